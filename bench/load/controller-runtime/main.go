// The operator of bench/load.ts in controller-runtime, as its documentation teaches it: a ConfigMap for every Item, and a condition Ready.
// Usage: controller-runtime ADDRESS-OF-METRICS, with LATENCIES in the environment.
package main

import (
	"bufio"
	"context"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

type reconciler struct {
	client.Client
	late lateness
}

func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var item Item
	if err := r.Get(ctx, req.NamespacedName, &item); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	r.late.note(req.NamespacedName, item.Spec.At)

	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: item.Namespace, Name: item.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, child, func() error {
		child.Data = map[string]string{"size": strconv.FormatInt(item.Spec.Size, 10), "text": strings.Repeat("x", 500)}
		return controllerutil.SetControllerReference(&item, child, r.Scheme())
	})
	if err != nil {
		return again(err)
	}

	before := item.DeepCopy()
	item.Status.ObservedGeneration = item.Generation
	meta.SetStatusCondition(&item.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Reconciled", ObservedGeneration: item.Generation,
	})
	if !equality.Semantic.DeepEqual(before.Status, item.Status) {
		if err := r.Status().Update(ctx, &item); err != nil {
			return again(err)
		}
	}
	return ctrl.Result{}, nil
}

// A conflict says that the cache lagged behind: one more try, and no failure.
func again(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return ctrl.Result{RequeueAfter: time.Millisecond}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// How long from each change to its first run, in milliseconds, a line each in the file LATENCIES.
type lateness struct {
	mutex sync.Mutex
	seen  map[types.NamespacedName]int64
	lines []string
}

func (l *lateness) note(key types.NamespacedName, at int64) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if at > 0 && l.seen[key] != at {
		l.seen[key] = at
		l.lines = append(l.lines, strconv.FormatInt(time.Now().UnixMilli()-at, 10))
	}
}

func (l *lateness) write(file string) {
	for range time.Tick(500 * time.Millisecond) {
		l.mutex.Lock()
		lines := l.lines
		l.lines = nil
		l.mutex.Unlock()
		if len(lines) == 0 {
			continue
		}
		out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		must(err)
		buffer := bufio.NewWriter(out)
		for _, line := range lines {
			_, _ = buffer.WriteString(line + "\n")
		}
		must(buffer.Flush())
		must(out.Close())
	}
}

func main() {
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	must(clientgoscheme.AddToScheme(scheme))
	addToScheme(scheme)
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: os.Args[1]},
	})
	must(err)
	items := &reconciler{Client: manager.GetClient(), late: lateness{seen: map[types.NamespacedName]int64{}}}
	must(ctrl.NewControllerManagedBy(manager).
		Named("item").
		For(&Item{}).
		Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 8}).
		Complete(items))
	go items.late.write(os.Getenv("LATENCIES"))
	must(manager.Start(ctrl.SetupSignalHandler()))
}

func must(err error) {
	if err != nil {
		ctrl.Log.Error(err, "fatal")
		os.Exit(1)
	}
}
