package kubelet

import (
	"fmt"
	"strings"

	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/toolcache"
)

// distribution finds the Flink that an image is called after: flink:1.18, or flink:1.18.1-java17.
func distribution(image string) (flinklocal.Distribution, error) {
	known := []string{toolcache.FlinkOperated, toolcache.Flink1, toolcache.Flink2}
	_, tag, _ := strings.Cut(image, ":")
	wanted, _, _ := strings.Cut(tag, "-")
	for _, version := range known {
		if wanted == "" || !strings.HasPrefix(version+".", wanted+".") {
			continue
		}
		cache, err := toolcache.Open()
		if err != nil {
			return flinklocal.Distribution{}, err
		}
		home, err := cache.FindFlinkHome(version)
		if err != nil {
			return flinklocal.Distribution{}, err
		}
		return flinklocal.OpenDistribution(home)
	}
	return flinklocal.Distribution{}, fmt.Errorf("image %s: no such Flink; known are %s", image, strings.Join(known, ", "))
}
