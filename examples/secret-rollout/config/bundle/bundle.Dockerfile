# Made by `tsop generate bundle examples/secret-rollout --name site-operator --samples examples/secret-rollout/manifests --output examples/secret-rollout/config/bundle`; change what it is made from and run it again.
# tsop sha256:573c60895be33c07
FROM scratch
LABEL operators.operatorframework.io.bundle.mediatype.v1=registry+v1
LABEL operators.operatorframework.io.bundle.manifests.v1=manifests/
LABEL operators.operatorframework.io.bundle.metadata.v1=metadata/
LABEL operators.operatorframework.io.bundle.package.v1=site-operator
LABEL operators.operatorframework.io.bundle.channels.v1=candidate
LABEL operators.operatorframework.io.bundle.channel.default.v1=candidate
COPY manifests /manifests/
COPY metadata /metadata/
