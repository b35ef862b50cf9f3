// An operator as controller-runtime's documentation teaches it: leader election, cached reads, owned children by server-side
// apply, a finalizer, a status, events. It keeps a ConfigMap for every Gadget and stamps it with the Gadget's message.
package main

import (
	"context"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	metav1apply "k8s.io/client-go/applyconfigurations/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "foreign.example.com/cleanup"

var gadgets = schema.GroupVersionKind{Group: "foreign.example.com", Version: "v1", Kind: "Gadget"}

type reconciler struct {
	client.Client
}

func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	gadget := newGadget()
	if err := r.Get(ctx, req.NamespacedName, gadget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if gadget.GetDeletionTimestamp() != nil {
		return ctrl.Result{}, r.cleanUp(ctx, gadget)
	}
	if controllerutil.AddFinalizer(gadget, finalizer) {
		return ctrl.Result{}, r.Update(ctx, gadget)
	}
	message, _, _ := unstructured.NestedString(gadget.Object, "spec", "message")
	owner := metav1apply.OwnerReference().
		WithAPIVersion(gadget.GetAPIVersion()).WithKind(gadget.GetKind()).
		WithName(gadget.GetName()).WithUID(gadget.GetUID()).
		WithController(true).WithBlockOwnerDeletion(true)
	child := corev1apply.ConfigMap(gadget.GetName(), gadget.GetNamespace()).
		WithOwnerReferences(owner).
		WithData(map[string]string{"message": message})
	if err := r.Apply(ctx, child, client.FieldOwner("gadgets"), client.ForceOwnership); err != nil {
		return ctrl.Result{}, err
	}
	seen, _, _ := unstructured.NestedInt64(gadget.Object, "status", "observedGeneration")
	if seen == gadget.GetGeneration() {
		return ctrl.Result{}, nil
	}
	before := gadget.DeepCopy()
	if err := unstructured.SetNestedField(gadget.Object, gadget.GetGeneration(), "status", "observedGeneration"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Status().Patch(ctx, gadget, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// What it leaves behind shows that it was there.
func (r *reconciler) cleanUp(ctx context.Context, gadget *unstructured.Unstructured) error {
	if !controllerutil.ContainsFinalizer(gadget, finalizer) {
		return nil
	}
	grave := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: gadget.GetNamespace(), Name: gadget.GetName() + "-was-here"}}
	if err := client.IgnoreAlreadyExists(r.Create(ctx, grave)); err != nil {
		return err
	}
	controllerutil.RemoveFinalizer(gadget, finalizer)
	return client.IgnoreNotFound(r.Update(ctx, gadget))
}

func newGadget() *unstructured.Unstructured {
	gadget := &unstructured.Unstructured{}
	gadget.SetGroupVersionKind(gadgets)
	return gadget
}

func main() {
	ctrl.SetLogger(zap.New())
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "gadgets.foreign.example.com",
		LeaderElectionNamespace:       os.Getenv("NAMESPACE"),
		LeaderElectionReleaseOnCancel: true,
	})
	must(err)
	must(ctrl.NewControllerManagedBy(manager).
		Named("gadgets").
		For(newGadget()).
		Owns(&corev1.ConfigMap{}).
		Complete(&reconciler{manager.GetClient()}))
	must(manager.Start(ctrl.SetupSignalHandler()))
}

func must(err error) {
	if err != nil {
		ctrl.Log.Error(err, "fatal")
		os.Exit(1)
	}
}
