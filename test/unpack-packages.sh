#!/usr/bin/env bash
# unpack-packages.sh FOLDER PACKAGE…: downloads Debian packages and the libraries that are missing, and unpacks them below
# FOLDER/root. Nothing is installed, so no service is started. FOLDER/ready exists when all is done.
set -euo pipefail
folder=$1
packages=("${@:2}")
if [ -e "$folder/ready" ]; then exit; fi
rm -rf "$folder"
mkdir -p "$folder/sources" "$folder/archives/partial" "$folder/root"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
  if [ -f "$file" ]; then cp "$file" "$folder/sources/"; fi
done

# Debian 12 has Suricata only in its backports, with a library of which the other version is older. apt does not always see
# that Suricata needs the newer one.
. /etc/os-release
if [ "$VERSION_CODENAME" = bookworm ]; then
  site=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | sed -n 1p)
  cat > "$folder/sources/backports.sources" <<END
Types: deb
URIs: ${site:-http://deb.debian.org/debian}
Suites: bookworm-backports
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
  packages=("${packages[@]/%suricata/suricata/bookworm-backports}" libhtp2/bookworm-backports)
fi

apt() {
  apt-get -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$folder/sources" \
    -o Dir::Cache::Archives="$folder/archives" "$@"
}
apt update
apt install --download-only --yes --no-install-recommends "${packages[@]}"
for file in "$folder"/archives/*.deb; do dpkg --extract "$file" "$folder/root"; done
rm -r "$folder/archives"
touch "$folder/ready"
