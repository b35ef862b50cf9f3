// Looks at operator bundles (registry+v1) as the Operator Framework does: `bundle DIR ...` prints one line of JSON for each, and ends
// with 1 where one of them has errors.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/api/pkg/validation"
	"github.com/operator-framework/api/pkg/validation/errors"
	"github.com/sirupsen/logrus"
	"sigs.k8s.io/yaml"
)

type report struct {
	Bundle   string   `json:"bundle"`
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
}

// All but the one for several architectures, which asks for the image in a registry.
var validators = []interface {
	Validate(...interface{}) []errors.ManifestResult
}{
	validation.ClusterServiceVersionValidator,
	validation.CustomResourceDefinitionValidator,
	validation.BundleValidator,
	validation.OperatorHubV2Validator,
	validation.StandardCategoriesValidator,
	validation.StandardCapabilitiesValidator,
	validation.ObjectValidator,
	validation.OperatorGroupValidator,
	validation.CommunityOperatorValidator,
	validation.AlphaDeprecatedAPIsValidator,
	validation.GoodPracticesValidator,
}

func main() {
	logrus.SetOutput(io.Discard)
	status := 0
	for _, dir := range os.Args[1:] {
		found := look(dir)
		if len(found.Errors) > 0 {
			status = 1
		}
		line, err := json.Marshal(found)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(line))
	}
	os.Exit(status)
}

func look(dir string) report {
	found := report{Bundle: dir, Errors: []string{}, Warnings: []string{}}
	bundle, err := manifests.GetBundleFromDir(dir)
	if err != nil {
		found.Errors = append(found.Errors, err.Error())
		return found
	}
	found.Errors = append(found.Errors, unknownFields(dir)...)
	for _, validator := range validators {
		for _, result := range validator.Validate(bundle.ObjectsToValidate()...) {
			for _, each := range result.Errors {
				found.Errors = append(found.Errors, each.Error())
			}
			for _, each := range result.Warnings {
				found.Warnings = append(found.Warnings, each.Error())
			}
		}
	}
	return found
}

// What a reader that does not look closely passes over: fields that a ClusterServiceVersion does not have.
func unknownFields(dir string) (problems []string) {
	files, err := filepath.Glob(filepath.Join(dir, "manifests", "*.clusterserviceversion.yaml"))
	if err != nil || len(files) != 1 {
		return []string{fmt.Sprintf("%d files manifests/*.clusterserviceversion.yaml: %v", len(files), err)}
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return []string{err.Error()}
	}
	if err := yaml.UnmarshalStrict(text, &v1alpha1.ClusterServiceVersion{}); err != nil {
		return []string{err.Error()}
	}
	return nil
}
