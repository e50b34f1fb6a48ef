#!/bin/bash
# Makes the secrets and certificates of compose.production.yml that are not there yet, and says what it made.
#
#   sudo deploy/secrets.sh [FOLDER] [HOST]
#
# FOLDER: deploy/secrets. HOST: the name in the proxy's certificate, localhost; replace proxy.pem by one that browsers
# trust. To renew a certificate or a password of the engine or of Redis, remove its file, run this again, and start its
# service anew. Never remove these three: encryption_keys, which alone reads what is encrypted (`gear-api encryption`
# changes keys), digest_key, without which nothing that is loaded can be ordered until it is loaded again, and
# database_password, which PostgreSQL keeps (ALTER ROLE changes it). As root it gives each file to the account of its
# container; keep ca.key and admin.key elsewhere once all is set up.
set -euo pipefail
umask 077

folder=${1:-$(dirname "$0")/secrets}
host=${2:-localhost}
days=397
mkdir -p "$folder"
cd "$folder"

owned() { # file, account and group of the containers that read it, mode
    if [ "$(id -u)" = 0 ]; then chown "$2" "$1"; fi
    chmod "$3" "$1"
    echo "made $1" >&2
}

secret() { # file, its text: for the service's own account and for whom shares its group
    [ -e "$1" ] || { printf '%s\n' "$2" >"$1" && owned "$1" 10001:10001 0440; }
}

private() { # file, its text: for one account alone
    [ -e "$1" ] || { printf '%s\n' "$2" >"$1" && owned "$1" "$3" 0400; }
}

random() { openssl rand -hex 32; }

certificate() { # name, account, names and addresses
    [ ! -e "$1.pem" ] || return 0
    openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"
    openssl req -new -key "$1.key" -subj "/O=gear/CN=$1" -out "$1.csr"
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -days "$days" -out "$1.pem" -extfile <(
        printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\nkeyUsage=digitalSignature\n' "$3"
    ) 2>/dev/null
    rm "$1.csr"
    owned "$1.key" "$2" 0400
    owned "$1.pem" "$2" 0444
}

if [ ! -e ca.pem ]; then
    openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ca.key
    openssl req -x509 -new -key ca.key -subj "/O=gear/CN=gear CA" -days 3650 -out ca.pem \
        -addext keyUsage=critical,keyCertSign,cRLSign
    owned ca.key 0:0 0400
    owned ca.pem 0:0 0444
fi

engines=DNS:opensearch-1,DNS:opensearch-2,DNS:opensearch-3
certificate opensearch 1000:1000 "$engines,DNS:localhost,IP:127.0.0.1"
certificate admin 1000:1000 DNS:admin
certificate postgres 999:999 DNS:postgres,DNS:localhost
certificate redis 999:999 DNS:redis,DNS:localhost,IP:127.0.0.1
if [ ! -e proxy.pem ]; then
    certificate public 99:99 "DNS:$host"
    cat public.pem public.key >proxy.pem
    rm public.pem public.key
    owned proxy.pem 99:99 0400
fi

secret opensearch_api_password "$(random)"
secret opensearch_loader_password "$(random)"
secret database_password "$(random)"
private digest_key "$(random)" 10001:10001
private encryption_keys "$(openssl rand 32 | openssl base64 | tr '+/' '-_')" 10001:10001
if [ ! -e redis.conf ] || [ ! -e rate_limit_storage ]; then
    password=$(random)
    rm -f redis.conf rate_limit_storage
    private redis.conf "requirepass $password" 999:999
    private rate_limit_storage "rediss://:$password@redis:6379?ssl_ca_certs=/run/secrets/ca.pem" 10001:10001
fi
