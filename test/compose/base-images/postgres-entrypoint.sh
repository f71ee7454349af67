#!/bin/sh
# Of the official image's entry point: the variables POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB and POSTGRES_INITDB_ARGS, and arguments
# for the server. Nothing is run from /docker-entrypoint-initdb.d.
set -eu
PGDATA=${PGDATA:-/var/lib/postgresql/18/docker}
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chown -R postgres:postgres /var/lib/postgresql
  chmod 700 "$PGDATA"
  exec setpriv --reuid postgres --regid postgres --init-groups "$0" "$@"
fi
if ! [ -s "$PGDATA/PG_VERSION" ]; then
  umask 077
  password=$(mktemp)
  printf '%s\n' "$POSTGRES_PASSWORD" >"$password"
  # shellcheck disable=SC2086 # several options in one variable, as in the official image
  initdb -D "$PGDATA" -U "${POSTGRES_USER:-postgres}" --auth=scram-sha-256 --pwfile="$password" ${POSTGRES_INITDB_ARGS:-}
  rm "$password"
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  [ "${POSTGRES_DB:-postgres}" = postgres ] || echo "CREATE DATABASE $POSTGRES_DB;" | postgres --single -D "$PGDATA" postgres
fi
[ "${1:-}" = postgres ] && shift
exec postgres -D "$PGDATA" -c 'listen_addresses=*' -c unix_socket_directories=/var/run/postgresql "$@"
