package yarn

import (
	"strings"

	"flinkscaler/core"
)

// byHand is how a person starts the job that is stopped, so that its target finds it:
// in the same session, or as an application like the one before.
func byHand(p *place, flinkVersion string) core.ByHand {
	if p.target.JobName != "" {
		return core.ByHand{Command: "flink run -t yarn-session -d", Options: option("yarn.application.id", p.app.ID)}
	}
	verb := "run"
	if v, ok := versionOf(flinkVersion); ok && v.major < 2 {
		verb = "run-application"
	}
	kind := p.app.Type
	if kind == defaultType {
		kind = ""
	}
	var options []string
	for _, o := range []struct{ key, value string }{
		{optionName, p.app.Name}, {optionTags, strings.Join(foreignTags(p.app.Tags), ",")}, {optionQueue, p.app.Queue}, {optionType, kind},
	} {
		if o.value != "" {
			options = append(options, option(o.key, o.value))
		}
	}
	return core.ByHand{Command: "flink " + verb + " -t yarn-application -d", Options: strings.Join(options, " ")}
}

// option is one of Flink's as a shell takes it.
func option(key, value string) string { return shellWord("-D" + key + "=" + value) }

// shellWord is a word that a shell reads as it is.
func shellWord(word string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=.,:/+@%"
	if strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
