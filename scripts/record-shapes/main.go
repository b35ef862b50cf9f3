// Prints how the Go types of the built-in kinds look in JSON: the facts that neither OpenAPI nor discovery tell
// (which members vanish when empty, which are pointers, in which order they are written, how errors name the types).
// Usage: go run . > shapes.txt      (see shapes.ts for the format)
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"sort"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

var unmarshaler = reflect.TypeOf((*json.Unmarshaler)(nil)).Elem()
var ids = map[reflect.Type]int{}
var lines []string

func named(t reflect.Type) string {
	if t.PkgPath() == "" {
		return ""
	}
	return t.String()
}

func code(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		return "*" + code(t.Elem())
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return "@" + t.String()
	}
	switch t.Kind() {
	case reflect.Struct:
		return fmt.Sprintf("#%d", structID(t))
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "y" + named(t)
		}
		return "[" + named(t) + ":" + code(t.Elem())
	case reflect.Map:
		return "{" + named(t) + ":" + t.Key().String() + ":" + code(t.Elem())
	case reflect.String:
		return "s" + named(t)
	case reflect.Bool:
		return "b" + named(t)
	case reflect.Interface:
		return "?"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64, reflect.Uint8, reflect.Int8, reflect.Uint16:
		return "i" + t.Kind().String() + " " + named(t)
	case reflect.Float64, reflect.Float32:
		return "f" + named(t)
	}
	panic(t.String())
}

func structID(t reflect.Type) int {
	if id, ok := ids[t]; ok {
		return id
	}
	id := len(lines)
	ids[t] = id
	lines = append(lines, "")
	lines[id] = t.String() + "|" + strings.Join(fields(t), "|")
	return id
}

func fields(t reflect.Type) []string {
	var all []string
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		parts := strings.Split(f.Tag.Get("json"), ",")
		if parts[0] == "-" || !f.IsExported() {
			continue
		}
		name := parts[0]
		options := strings.Join(parts[1:], ",")
		if name == "" && (f.Anonymous || strings.Contains(options, "inline")) {
			for _, embedded := range fields(f.Type) {
				if f.Name == "TypeMeta" {
					all = append(all, embedded)
					continue
				}
				if strings.Count(embedded, "=") == 2 {
					embedded += "="
				}
				parts := strings.SplitN(embedded, "=", 4)
				via := f.Name
				if parts[3] != "" {
					via += "." + parts[3]
				}
				all = append(all, strings.Join(parts[:3], "=")+"="+via)
			}
			continue
		}
		if name == "" {
			name = f.Name
		}
		flag := ""
		if strings.Contains(options, "omitempty") {
			flag += "o"
		}
		if strings.Contains(options, "omitzero") {
			flag += "z"
		}
		all = append(all, name+"="+flag+"="+code(f.Type))
	}
	return all
}

func main() {
	s := runtime.NewScheme()
	_ = apiextensions.AddToScheme(s)
	_ = apiregistration.AddToScheme(s)
	roots := map[string]string{}
	for _, from := range []*runtime.Scheme{scheme.Scheme, s} {
		for gvk, t := range from.AllKnownTypes() {
			if !regexp.MustCompile(`^v[0-9]+$`).MatchString(gvk.Version) || strings.HasPrefix(gvk.Group, "imagepolicy") || strings.HasSuffix(gvk.Kind, "Options") && gvk.Kind != "DeleteOptions" || gvk.Kind == "WatchEvent" || strings.HasSuffix(gvk.Kind, "List") {
				continue
			}
			if t.PkgPath() == "k8s.io/apimachinery/pkg/apis/meta/v1" && gvk != (schema.GroupVersionKind{Version: "v1", Kind: "DeleteOptions"}) {
				continue
			}
			if _, ok := reflect.New(t).Interface().(metav1.Object); !ok && gvk.Kind != "DeleteOptions" {
				continue
			}
			roots[gvk.Group+"/"+gvk.Version+"/"+gvk.Kind] = ""
			roots[gvk.Group+"/"+gvk.Version+"/"+gvk.Kind] = t.String()
			byRoot[gvk.Group+"/"+gvk.Version+"/"+gvk.Kind] = t
		}
	}
	keys := make([]string, 0)
	for k := range roots {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	var heads []string
	for _, k := range keys {
		heads = append(heads, fmt.Sprintf("%s=%d", k, structID(byRoot[k])))
	}
	fmt.Fprintln(out, strings.Join(heads, "|"))
	for _, l := range lines {
		fmt.Fprintln(out, l)
	}
}

var byRoot = map[string]reflect.Type{}
