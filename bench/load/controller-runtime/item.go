package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type ItemSpec struct {
	Size int64 `json:"size,omitempty"`
	// When it was changed, in milliseconds since 1970; 0 where that is of no interest.
	At int64 `json:"at,omitempty"`
}

type ItemStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// Item is the kind that bench/load/item.ts defines.
type Item struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ItemSpec   `json:"spec,omitempty"`
	Status            ItemStatus `json:"status,omitempty"`
}

func (i *Item) DeepCopyObject() runtime.Object { return i.DeepCopy() }

func (i *Item) DeepCopy() *Item {
	copied := &Item{TypeMeta: i.TypeMeta, Spec: i.Spec, Status: i.Status}
	i.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	copied.Status.Conditions = make([]metav1.Condition, len(i.Status.Conditions))
	for n := range i.Status.Conditions {
		i.Status.Conditions[n].DeepCopyInto(&copied.Status.Conditions[n])
	}
	return copied
}

type ItemList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Item `json:"items"`
}

func (l *ItemList) DeepCopyObject() runtime.Object {
	copied := &ItemList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy(), Items: make([]Item, len(l.Items))}
	for n := range l.Items {
		copied.Items[n] = *l.Items[n].DeepCopy()
	}
	return copied
}

func addToScheme(scheme *runtime.Scheme) {
	version := schema.GroupVersion{Group: "load.tsop.dev", Version: "v1"}
	scheme.AddKnownTypes(version, &Item{}, &ItemList{})
	metav1.AddToGroupVersion(scheme, version)
}
