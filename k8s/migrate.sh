#!/bin/sh
# Applies all of an overlay that does not run (configuration, policies) and runs its migrations, to their end:
#
#   k8s/migrate.sh k8s/overlays/production/core [MINUTES]
#
# A job of this release that has ended before, well or not, is deleted first: applied again it would say `unchanged` and
# run nothing. One that is running goes on. Ends with 1, and what the job said, when it fails or MINUTES (30) are over.
set -eu
overlay=${1:?'call it with an overlay: k8s/migrate.sh k8s/overlays/production/core'}
deadline=$(($(date +%s) + ${2:-30} * 60))

jobs=$(kubectl kustomize "$overlay" |
  awk '/^---/ { job = 0 } /^kind: Job$/ { job = 1 } job && /^  name: / { print $2; job = 0 }')
if [ -z "$jobs" ]; then
  echo "$overlay has no migration." >&2
  exit 1
fi

ended() {
  kubectl -n customer-platform get "job/$1" --ignore-not-found -o 'jsonpath={.status.conditions[?(@.status=="True")].type}'
}

for job in $jobs; do
  conditions=$(ended "$job")
  case "$conditions" in
    *Complete* | *Failed*) kubectl -n customer-platform delete "job/$job" --cascade=foreground ;;
  esac
done

kubectl apply -k "$overlay" -l 'app.kubernetes.io/component notin (api, worker)'

for job in $jobs; do
  while true; do
    conditions=$(ended "$job")
    case "$conditions" in
      *Complete*) break ;;
      *Failed*)
        kubectl -n customer-platform logs -l "batch.kubernetes.io/job-name=$job" --tail=20 --prefix >&2
        echo "$job failed. Once its cause is gone, run this again." >&2
        exit 1
        ;;
    esac
    if [ "$(date +%s)" -ge "$deadline" ]; then
      echo "$job has not ended; it goes on. Look at: kubectl -n customer-platform describe job/$job" >&2
      exit 1
    fi
    sleep 2
  done
done
