"""The same operator as programs/cmd/operator, as kopf's documentation teaches it."""

import base64
import json
import os
import ssl
import urllib.error
import urllib.request

import kopf

KIND = ("foreign.example.com", "v1", "gadgets")


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_):
    settings.persistence.finalizer = "foreign.example.com/cleanup"
    # The status has a structural schema: the framework's bookkeeping goes to annotations.
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage()
    settings.persistence.diffbase_storage = kopf.AnnotationsDiffBaseStorage()


def request(method, path, body=None, content_type="application/json"):
    """What kopf leaves to the user: a call to the API. Gives the status."""
    with open(os.environ["KUBECONFIG"], encoding="utf-8") as file:
        config = json.load(file)
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    headers = {"authorization": f"Bearer {user['token']}", "content-type": content_type}
    data = None if body is None else json.dumps(body).encode()
    call = urllib.request.Request(f"{cluster['server']}{path}", data=data, method=method, headers=headers)
    try:
        with urllib.request.urlopen(call, context=context) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


def ensure_child(namespace, name, uid, message):
    owner = {
        "apiVersion": "foreign.example.com/v1", "kind": "Gadget", "name": name, "uid": uid,
        "controller": True, "blockOwnerDeletion": True,
    }
    child = {
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "ownerReferences": [owner]}, "data": {"message": message},
    }
    path = f"/api/v1/namespaces/{namespace}/configmaps/{name}?fieldManager=gadgets&force=true"
    status = request("PATCH", path, child, "application/apply-patch+yaml")
    if status >= 300:
        raise kopf.TemporaryError(f"apply: {status}", delay=1)


@kopf.index(*KIND)
def gadgets(namespace, name, uid, spec, meta, **_):
    return {} if meta.get("deletionTimestamp") else {(namespace, name): (uid, spec["message"])}


@kopf.on.create(*KIND)
@kopf.on.update(*KIND)
@kopf.on.resume(*KIND)
def reconcile(namespace, name, uid, spec, meta, status, patch, **_):
    ensure_child(namespace, name, uid, spec["message"])
    if status.get("observedGeneration") != meta["generation"]:
        patch.status["observedGeneration"] = meta["generation"]


@kopf.on.event("", "v1", "configmaps")
def restore(type, namespace, name, gadgets: kopf.Index, **_):
    if type == "DELETED":
        for uid, message in gadgets.get((namespace, name), ()):
            ensure_child(namespace, name, uid, message)


@kopf.on.delete(*KIND)
def clean_up(namespace, name, **_):
    grave = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-was-here"}}
    request("POST", f"/api/v1/namespaces/{namespace}/configmaps", grave)
