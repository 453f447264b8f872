#!/bin/sh
# Makes each module's database and its two roles: <module>_owner for migrations, <module>_app for the service, neither
# superuser nor past row level security. Runs once, when the data volume of the postgres image is empty; on a server of
# your own call it with PGHOST, PGUSER and PGPASSWORD of an administrator and the passwords in the environment.
set -eu
for module in core crm identity messaging loyalty; do
  upper=$(printf '%s' "$module" | tr '[:lower:]' '[:upper:]')
  eval "owner_password=\${${upper}_OWNER_PASSWORD:?} app_password=\${${upper}_APP_PASSWORD:?}"
  psql --no-psqlrc --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-${PGUSER:-postgres}}" --dbname postgres \
    --set module="$module" --set owner_password="$owner_password" --set app_password="$app_password" <<'SQL'
\set owner :module '_owner'
\set app :module '_app'
CREATE ROLE :"owner" LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD :'owner_password';
CREATE ROLE :"app" LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD :'app_password';
CREATE DATABASE :"module" OWNER :"owner";
REVOKE ALL ON DATABASE :"module" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"module" TO :"app";
SQL
done
