import type { ListKind } from './content.ts';

// Configurations of devices and programs that fetch a list, for the portal and docs/lists.md. The portal runs this in browsers.

type FetchedList = {
  /** Where the server is reached, without a slash at the end: `https://urlwarden.example`. */
  baseUrl: string;
  name: string;
  kind: ListKind;
  /** The key of the device, or a placeholder for it. */
  key: string;
};

type Device = {
  name: string;
  title: string;
  /** The end of the address by the kind of the list; kinds without one are of no use for the device. */
  formats: Readonly<Partial<Record<ListKind, string>>>;
  /** Where the configuration goes, and what must be done besides. */
  note: string;
  configuration(list: FetchedList, address: string): string;
};

const PATH = '/api/lists/v1';

/** The address with the key in it, for devices that send no header. `ending`: the format, and parameters. */
const listAddress = ({ baseUrl, key, name }: FetchedList, ending: string): string =>
  `${baseUrl}${PATH}/${key}/${name}.${ending}`;

/** The devices that can use this list, each with its text. */
export function deviceConfigurations(list: FetchedList): { device: Device; address: string; text: string }[] {
  return DEVICES.flatMap((device) => {
    const ending = device.formats[list.kind];
    if (ending === undefined) return [];
    const address = listAddress(list, ending);
    return [{ device, address, text: device.configuration(list, address) }];
  });
}

/**
 * A line for cron. Programs never read half a file, the old file stays if the download fails, and nothing happens while the list
 * does not change: the response is 304 then, and there is no file, or an empty one.
 */
function fetching(address: string, file: string, then: string): string {
  const etag = `--etag-compare ${file}.etag --etag-save ${file}.etag.new`;
  const download = `curl --silent --show-error --fail ${etag} --output ${file}.new '${address}'`;
  return `*/5 * * * * root rm -f ${file}.new && ${download} && [ -s ${file}.new ] && mv ${file}.new ${file} && mv ${file}.etag.new ${file}.etag && ${then}`;
}

const FETCH_FIRST = 'The first line belongs in a file in /etc/cron.d. Run its command once, then add the rest to';

const PAN_TYPES = { urls: 'url', hosts: 'domain', addresses: 'ip' } as const;
const FORTI_TYPES = { urls: 'category', hosts: 'domain', addresses: 'address' } as const;
/** Feeds of URLs and names need a number from 192 to 221. */
const FORTI_CATEGORY = {
  urls: '\n        set category 192',
  hosts: '\n        set category 193',
  addresses: '',
} as const;

/**
 * `squid -k parse` warns about more than 100 expressions in a file, and an expression has at most 2,046 characters. Of real
 * feeds, 3,300 URLs have 93 lines.
 */
const SQUID_URLS = 3_000;

export const DEVICES: readonly Device[] = [
  {
    name: 'pan-os',
    title: 'Palo Alto Networks PAN-OS',
    formats: { urls: 'txt?profile=pan-os', hosts: 'txt?profile=pan-os', addresses: 'txt?profile=pan-os' },
    note: 'In configuration mode, then commit. Use the list in a rule (addresses), a URL filtering profile (URLs) or an anti-spyware profile (names).',
    configuration: ({ kind, name }, address) =>
      `set external-list ${name} type ${PAN_TYPES[kind]} url "${address}"
set external-list ${name} type ${PAN_TYPES[kind]} recurring five-minute`,
  },
  {
    name: 'fortigate',
    title: 'Fortinet FortiGate',
    formats: { urls: 'txt?profile=fortigate', hosts: 'txt?profile=fortigate', addresses: 'txt?profile=fortigate' },
    note: 'Use the feed in a policy (addresses), a web filter profile (URLs) or a DNS filter profile (names). Each feed needs a category of its own.',
    configuration: ({ kind, name }, address) =>
      `config system external-resource
    edit "${name}"
        set type ${FORTI_TYPES[kind]}${FORTI_CATEGORY[kind]}
        set resource "${address}"
        set refresh-rate 5
    next
end`,
  },
  {
    name: 'bind',
    title: 'BIND',
    formats: { hosts: 'rpz' },
    note: `${FETCH_FIRST} named.conf; response-policy belongs in the options that are there. The name of the zone has at most 63 characters.`,
    configuration: ({ name }, address) =>
      `${fetching(address, `/var/cache/bind/${name}.rpz`, `rndc reload ${name}.rpz`)}

options {
    response-policy { zone "${name}.rpz"; };
};
zone "${name}.rpz" {
    type primary;
    file "/var/cache/bind/${name}.rpz";
    allow-query { none; };
};`,
  },
  {
    name: 'unbound',
    title: 'Unbound',
    formats: { hosts: 'rpz' },
    note: 'Unbound fetches the zone itself, every five minutes. For one that cannot, the format unbound is a file to include.',
    configuration: ({ name }, address) =>
      `server:
    module-config: "respip validator iterator"
    tls-cert-bundle: "/etc/ssl/certs/ca-certificates.crt"
rpz:
    name: "${name}.rpz."
    url: "${address}"
    zonefile: "/var/lib/unbound/${name}.rpz"
    rpz-log: yes
    rpz-log-name: "${name}"`,
  },
  {
    name: 'dnsmasq',
    title: 'dnsmasq',
    formats: { hosts: 'dnsmasq' },
    note: `${FETCH_FIRST} dnsmasq.conf. dnsmasq reads such files only when it starts.`,
    configuration: ({ name }, address) =>
      `${fetching(address, `/var/lib/misc/${name}.conf`, 'systemctl restart dnsmasq')}

conf-file=/var/lib/misc/${name}.conf`,
  },
  {
    name: 'pi-hole',
    title: 'Pi-hole',
    formats: { hosts: 'hosts' },
    note: 'The same as adding the address under Lists. Pi-hole fetches its lists once a week; the last line belongs in a file in /etc/cron.d.',
    configuration: ({ name }, address) =>
      `pihole-FTL sqlite3 /etc/pihole/gravity.db "INSERT INTO adlist (address, enabled, comment) VALUES ('${address}', 1, '${name}');"

0 * * * * root PATH="$PATH:/usr/sbin:/usr/local/bin" pihole updateGravity > /dev/null`,
  },
  {
    name: 'squid',
    title: 'Squid',
    formats: { urls: `squid?max=${SQUID_URLS}`, hosts: 'squid' },
    note: `${FETCH_FIRST} squid.conf, before the rules that allow. URLs with https are seen only where Squid decrypts TLS, and thousands of URLs make every request slower: prefer a list of names. Of a list of URLs, the configuration takes the newest ${SQUID_URLS.toLocaleString('en')} (max=${SQUID_URLS}): with more, squid -k parse warns.`,
    // Without -n, a request to an address waits for the reverse lookup of this address.
    configuration: ({ kind, name }, address) =>
      `${fetching(address, `/etc/squid/${name}.acl`, 'squid -k reconfigure')}

acl ${name} ${kind === 'hosts' ? 'dstdomain -n' : 'url_regex'} "/etc/squid/${name}.acl"
http_access deny ${name}`,
  },
  {
    name: 'suricata',
    title: 'Suricata',
    formats: { urls: 'suricata', hosts: 'suricata' },
    note: `${FETCH_FIRST} suricata.yaml, in addition to the rule files that are there. With many names, the format suricata-dataset needs less memory.`,
    configuration: ({ name }, address) =>
      `${fetching(address, `/var/lib/suricata/rules/${name}.rules`, 'suricatasc -c reload-rules > /dev/null')}

rule-files:
  - ${name}.rules`,
  },
  {
    name: 'nftables',
    title: 'nftables',
    formats: { addresses: 'nft' },
    note: `${FETCH_FIRST} /etc/nftables.conf. Leave out the chains that you do not need.`,
    configuration({ name }, address) {
      const set = name.replaceAll('-', '_');
      return `${fetching(address, `/var/lib/misc/${name}.nft`, `nft -f /var/lib/misc/${name}.nft`)}

include "/var/lib/misc/${name}.nft"
table inet urlwarden {
    chain input {
        type filter hook input priority filter;
        ip saddr @ipv4_${set} drop
        ip6 saddr @ipv6_${set} drop
    }
    chain forward {
        type filter hook forward priority filter;
        ip daddr @ipv4_${set} drop
        ip6 daddr @ipv6_${set} drop
    }
    chain output {
        type filter hook output priority filter;
        ip daddr @ipv4_${set} drop
        ip6 daddr @ipv6_${set} drop
    }
}`;
    },
  },
];
