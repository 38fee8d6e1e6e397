import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { dice } from '../../src/core/dice.ts';

// Writes a generated URLhaus dump of any size to standard output:
// npx node tools/shared/urlhaus-dump.ts --rows 4000000 > dump.csv
// The same seed gives the same bytes. Proportions are those of the real dump of 2025: two thirds of the hosts are
// addresses with high ports, 1 in 30 URLs is online, the newest row comes first. Reserved addresses and names only.

/** 2026-01-01T00:00:00Z, the time of the newest row. */
const NEWEST_TS = 1_767_225_600;
const SECONDS_PER_ROW = 40;
const ROWS_PER_WRITE = 1_000;

const FILES = ['i', 'bin.sh', 'Mozi.m', '.i', 'mips', 'arm7', 'bins/sora.x86'];
const TAGS = ['32-bit,elf,mips,Mozi', 'elf,mirai', 'hajime', 'None', 'exe,RedLineStealer', 'SocGholish', 'doc,emotet'];
const WORDS = ['update', 'invoice', 'cdn', 'shop', 'mail', 'files', 'login', 'photo', 'news', 'secure'];

type DumpOptions = { rows: number; seed: number };

/** The text of a dump, some rows at a time. */
export function* urlhausDump({ rows, seed }: DumpOptions): Generator<string> {
  const roll = dice(seed);
  yield banner();
  for (let from = 0; from < rows; from += ROWS_PER_WRITE) {
    const count = Math.min(ROWS_PER_WRITE, rows - from);
    yield Array.from({ length: count }, (_, i) =>
      row(rows - from - i, NEWEST_TS - (from + i) * SECONDS_PER_ROW, roll),
    ).join('');
  }
}

function banner(): string {
  const bar = '#'.repeat(64);
  return `${bar}\r\n# A generated dump in the format of abuse.ch URLhaus\r\n# Last updated: ${timeText(NEWEST_TS)} (UTC)\r\n${bar}\r\n#\r
# id,dateadded,url,url_status,last_online,threat,tags,urlhaus_link,reporter\r\n`;
}

function row(id: number, ts: number, roll: (n: number) => number): string {
  const isOnline = roll(30) === 0;
  const lastTs = Math.min(NEWEST_TS, ts + roll(30 * 86_400));
  const cells = [
    `${id}`,
    timeText(ts),
    url(id, roll),
    isOnline ? 'online' : 'offline',
    roll(10) === 0 ? 'None' : timeText(lastTs),
    'malware_download',
    TAGS[roll(TAGS.length)],
    `https://urlhaus.example/url/${id}/`,
    `reporter${roll(300)}`,
  ];
  return `"${cells.join('","')}"\r\n`;
}

function url(id: number, roll: (n: number) => number): string {
  if (roll(3) < 2) {
    const [net, host] = [roll(2), roll(65_536)];
    const port = 1_024 + roll(64_000);
    return `http://198.${18 + net}.${host >> 8}.${host & 255}:${port}/${FILES[roll(FILES.length)]}`;
  }
  const name = `${WORDS[roll(WORDS.length)]}-${roll(200_000)}.example`;
  return `https://${name}/${WORDS[roll(WORDS.length)]}/${id.toString(36)}/?id=${roll(1_000_000)}`;
}

function timeText(ts: number): string {
  return new Date(ts * 1000).toISOString().slice(0, 19).replace('T', ' ');
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { rows: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
  });
  for (const text of urlhausDump({ rows: Number(values.rows), seed: Number(values.seed) })) {
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  }
}
