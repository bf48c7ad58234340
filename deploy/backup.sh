#!/bin/bash
# Dumps the log's database into /backups: once, or again and again ("every 24h"). A dump gets its name when it is whole
# and can be read back. `onrecord verify --all` proves a restored one.
set -euo pipefail
BACKUPS="${BACKUPS:-/backups}"

dump() {
  local name
  name="onrecord-$(date -u +%Y-%m-%dT%H%M%SZ)"
  pg_dump --format=custom --no-owner --file="$BACKUPS/.$name.part"
  pg_restore --list "$BACKUPS/.$name.part" >/dev/null
  mv "$BACKUPS/.$name.part" "$BACKUPS/$name.dump"
  echo "{\"at\":\"$(date -u +%FT%TZ)\",\"level\":\"info\",\"message\":\"backed up\",\"file\":\"$name.dump\"}" >&2
  find "$BACKUPS" -maxdepth 1 -name 'onrecord-*.dump' -mtime "+${KEEP_DAYS:-14}" -delete
}

case "${1:-once}" in
  once) dump ;;
  every)
    # A container is ended while it sleeps: then at once.
    trap 'exit 0' TERM INT
    while true; do
      dump || echo "{\"at\":\"$(date -u +%FT%TZ)\",\"level\":\"warn\",\"message\":\"the backup failed\"}" >&2
      sleep "${2:-24h}" &
      wait $!
    done
    ;;
  *)
    echo "usage: backup.sh [once | every 24h]" >&2
    exit 2
    ;;
esac
