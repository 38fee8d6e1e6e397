import { objectsOf } from '../json.ts';
import { toText } from '../values.ts';
import { distinctFamilies } from './families.ts';

/** Galaxies of MISP whose clusters are families of malware, not actors, techniques or countries. */
const GALAXIES = new Set([
  'android',
  'backdoor',
  'banker',
  'botnet',
  'cryptominers',
  'malpedia',
  'mitre-enterprise-attack-malware',
  'mitre-malware',
  'mitre-mobile-attack-malware',
  'ransomware',
  'rat',
  'stealer',
  'tool',
]);

/** `misp-galaxy:malpedia="Mirai"`, `ms-caro-malware:malware-family="Zbot"` */
const GALAXY_TAG = /^misp-galaxy:([a-z-]+)="([^"]+)"$/i;
const FAMILY_TAG = /:malware-family="([^"]+)"$/i;
/** MITRE puts its number behind the name: `Emotet - S0367`. */
const MITRE_NUMBER = / - S\d{4}$/;

/** The families that the tags and galaxies of an event, an object or an attribute name, each once. */
export function familiesOf(tagged: Record<string, unknown>): string[] {
  const tags = objectsOf(tagged.Tag).map(({ name }) => familyOfTag(name));
  const clusters = objectsOf(tagged.Galaxy).flatMap(({ type, GalaxyCluster }) =>
    objectsOf(GalaxyCluster).map(({ value }) => (isFamilyGalaxy(type) ? familyName(value) : null)),
  );
  return distinctFamilies([...tags, ...clusters]);
}

function familyOfTag(tag: unknown): string | null {
  if (typeof tag !== 'string') return null;
  const [, galaxy, cluster] = GALAXY_TAG.exec(tag) ?? [];
  return isFamilyGalaxy(galaxy) ? familyName(cluster) : familyName(FAMILY_TAG.exec(tag)?.[1]);
}

function isFamilyGalaxy(type: unknown): boolean {
  return typeof type === 'string' && GALAXIES.has(type.toLowerCase());
}

function familyName(value: unknown): string | null {
  return toText(value)?.replace(MITRE_NUMBER, '') ?? null;
}
