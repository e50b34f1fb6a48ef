#!/bin/bash
# Applies the roles, users and passwords to a cluster, again at each start: what is in the files is what holds.
#
#   security.sh FILES SECRETS CERTIFICATES HOST [PORT]
#
# FILES are this folder's. SECRETS has a file opensearch_NAME_password for each user gear-NAME. CERTIFICATES has ca.pem,
# admin.pem and admin.key. GEAR_INDEX_PREFIX is the prefix of the indices that the roles are for: gear by default. It runs
# in the image of OpenSearch, or wherever SECURITY_TOOLS names the plugin's tools.
set -euo pipefail

prefix=${GEAR_INDEX_PREFIX:-gear}
[[ $prefix =~ ^[a-z][a-z0-9-]*$ ]] || { echo "GEAR_INDEX_PREFIX is $prefix: it must be a-z, 0-9 and -" >&2; exit 1; }
files=$1 secrets=$2 certificates=$3 host=$4 port=${5:-9200}
tools=${SECURITY_TOOLS:-/usr/share/opensearch/plugins/opensearch-security/tools}
export OPENSEARCH_JAVA_HOME=${OPENSEARCH_JAVA_HOME:-${JAVA_HOME:-/usr/share/opensearch/jdk}}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

user() { # name, file of the password
    PASSWORD=$(<"$2") || exit 1
    [ -n "$PASSWORD" ] || { echo "$2 is empty: it must hold the password of $1" >&2; exit 1; }
    export PASSWORD
    printf '%s:\n  hash: "%s"\n' "$1" "$(bash "$tools/hash.sh" -env PASSWORD 2>/dev/null | tail -n 1)"
}

cp "$files"/*.yml "$work/"
sed "s/\[gear-/[$prefix-/" "$files/roles.yml" >"$work/roles.yml"
{
    printf '_meta:\n  type: internalusers\n  config_version: 2\n\n'
    for file in "$secrets"/opensearch_*_password; do
        name=${file##*/opensearch_}
        user "gear-${name%_password}" "$file"
    done
} >"$work/internal_users.yml"
bash "$tools/securityadmin.sh" --configdir "$work" --ignore-clustername --hostname "$host" --port "$port" \
    -cacert "$certificates/ca.pem" -cert "$certificates/admin.pem" -key "$certificates/admin.key"
