// Package spawn starts programs that must not outlive this one. On Linux a child ends
// with its parent, however that ends. On other systems a parent that is killed leaves
// its children behind.
package spawn
