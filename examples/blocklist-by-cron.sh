#!/bin/sh
# Writes what is online as a blocklist. Run it by cron:
#
#   */15 * * * *  blocklist-by-cron.sh hosts    /etc/dnsmasq.d/urlwarden.hosts
#   */15 * * * *  blocklist-by-cron.sh url-list /var/www/blocklist.txt
#
# hosts is a hosts file for a DNS resolver, without sites that many people share. url-list has one URL per line for a proxy.
#
# It writes a new file and renames it, so a reader sees the old list or the new one, never a part of one. It keeps the
# old list when the new one is empty, or has less than WARDEN_KEEP_PERCENT (default 50) of the old one's lines: a feed
# that failed must not unblock everything. To accept a short list, delete the old one.
#
# It is silent on success. On failure it says why on standard error, which cron sends by mail, and ends with exit code 1
# (2 for a wrong command line). Run something after each new list with: blocklist-by-cron.sh hosts FILE && COMMAND
#
# WARDEN_PROGRAM is the command to run (default urlwarden; in a clone: npx urlwarden). URLWARDEN_DATA or
# URLWARDEN_DATABASE_URL say where the data is, as for every command of urlwarden.
set -eu

fail() {
  echo "blocklist-by-cron: $1" >&2
  exit "${2:-1}"
}

lines_of() {
  wc -l <"$1" | tr -d ' '
}

case "$#:${1:-}" in
2:hosts) export='--list hosts-malware --format hosts' ;;
2:url-list) export='--list urls-online --format txt' ;;
*) fail 'usage: blocklist-by-cron.sh hosts|url-list FILE' 2 ;;
esac
list=$2
new=$list.$$.new # in the same folder: a rename is atomic only within one file system

umask 022 # the programs that read the list have other accounts
trap 'rm -f "$new"' EXIT
trap 'exit 1' HUP INT TERM

# Not quoted: both have several words.
${WARDEN_PROGRAM:-urlwarden} export $export >"$new" || fail "export failed, $list stays as it is"
[ -s "$new" ] || fail "the new list is empty, $list stays as it is"

if [ -e "$list" ]; then
  before=$(lines_of "$list")
  after=$(lines_of "$new")
  [ $((after * 100)) -ge $((before * ${WARDEN_KEEP_PERCENT:-50})) ] ||
    fail "the new list has $after lines, the old one $before; $list stays as it is (delete it to accept the new one)"
fi
mv -f "$new" "$list"
