import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { counted, defang, nowTs, visible } from '../format.ts';
import { useLoad } from '../load.ts';
import { addressPath, hostAddress, searchAllPath, searchPath } from '../query.ts';
import { remember } from '../recent.ts';
import { Ago, Card, CopyButton, Show } from './basics.tsx';
import { FOLDED, Rest, useMost } from './table.tsx';

// Parts of the pages about one thing: a URL, an address, a network, a domain.

type LookupProps<T extends object> = {
  /** The heading until the response has its own. */
  asked: string;
  path: string;
  load(abort: AbortSignal): Promise<T>;
  /** How it is called among the last lookups. */
  nameOf(report: T): { kind: string; text: string };
  children(report: T): ComponentChildren;
};

/** Looks one thing up, and remembers it once it is found. */
export function Lookup<T extends object>({ asked, path, load, nameOf, children }: LookupProps<T>) {
  const loaded = useLoad(path, load);
  useEffect(() => {
    if (loaded.state === 'done') remember({ ...nameOf(loaded.data), path, ts: nowTs() });
  }, [loaded.state, path]);
  return (
    <>
      {loaded.state !== 'done' && <h1 class="mono">{visible(asked)}</h1>}
      <Show loaded={loaded} what="Looking it up">
        {(report) => (
          <>
            {children(report)}
            <Raw report={report} />
          </>
        )}
      </Show>
    </>
  );
}

type HeadProps = {
  name: string;
  what: string;
  /** The same as a request to the API. */
  curl: string;
  report: object;
  verdict: ComponentChildren;
  children?: ComponentChildren;
};

/** Six lines. A URL may have 8,192 characters, and would hide what is known about it. */
const NAME_LENGTH = 500;

/** The verdict first, then the name of the thing, with its defanged form, the command and the response to copy. */
export function Head({ name, what, curl, report, verdict, children }: HeadProps) {
  const defanged = defang(name);
  const [isWhole, setWhole] = useState(false);
  const isLong = name.length > NAME_LENGTH;
  const isCut = isLong && !isWhole;
  return (
    <Card>
      <p class="verdict">{verdict}</p>
      <div class="page-head">
        <h1 class="mono">{isCut ? `${visible(name.slice(0, NAME_LENGTH))}…` : visible(name)}</h1>
        <div class="chips">
          {isLong && (
            <button type="button" class="button" onClick={() => setWhole(isCut)}>
              {isCut ? `Show all ${counted(name.length, 'character')}` : 'Show less'}
            </button>
          )}
          <CopyButton text={name} what={`${capitalized(what)} copied`}>
            Copy
          </CopyButton>
          {defanged !== name && (
            <CopyButton text={defanged} what={`Defanged ${what} copied`}>
              Defanged
            </CopyButton>
          )}
          <CopyButton text={curl} what="curl command copied">
            curl
          </CopyButton>
          <CopyButton text={jsonOf(report)} what="JSON copied">
            JSON
          </CopyButton>
        </div>
      </div>
      {children}
    </Card>
  );
}

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const jsonOf = (report: object): string => JSON.stringify(report, null, 2);

/** The response of the server as it came. */
function Raw({ report }: { report: object }) {
  return (
    <details class="card">
      <summary>Raw JSON</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable */}
      <pre tabIndex={0}>{jsonOf(report).split('\n').map(visible).join('\n')}</pre>
    </details>
  );
}

const CHIPS_SHOWN = 12;

/** Nothing without texts. */
export function Chips({ title, texts }: { title: string; texts: readonly string[] }) {
  if (texts.length === 0) return null;
  return (
    <div class="chips below">
      <span class="dim">{title}:</span>
      <Folded rows={texts} class="chips" first={CHIPS_SHOWN}>
        {(text) => (
          <li key={text} class="chip">
            {visible(text)}
          </li>
        )}
      </Folded>
    </div>
  );
}

/** `AS64500 Example Networks`, the number as a link to its URLs. */
export function NetworkName({ asn, network }: { asn: number | null; network: string | null }) {
  if (asn === null) return <span class="dim">network unknown</span>;
  return (
    <>
      <a class="inline" href={searchPath('asn', String(asn))}>
        AS{asn}
      </a>{' '}
      {network && visible(network)}
    </>
  );
}

/** To the URLs on a host, or to the page of the address that it is. */
export function HostLink({ host }: { host: string }) {
  const ip = hostAddress(host);
  return (
    <a class="mono cut" href={ip === null ? searchAllPath('host', host) : addressPath(ip)}>
      {visible(host)}
    </a>
  );
}

/** How many a card has. */
export function Shown({ count, isTruncated }: { count: number; isTruncated: boolean }) {
  return <span class="dim">{isTruncated ? `first ${count}` : count}</span>;
}

type FoldedProps<T> = { rows: readonly T[]; class?: string; first?: number; children(row: T): ComponentChildren };

/** A list of which a button shows the rest if it is long. */
export function Folded<T>({ rows, class: name = 'plain-list', first = FOLDED, children }: FoldedProps<T>) {
  const [most, showMore] = useMost(first);
  const shown = rows.slice(0, most);
  return (
    <>
      <ul class={name}>{shown.map(children)}</ul>
      <Rest hidden={rows.length - shown.length} onShow={showMore} />
    </>
  );
}

type SeenProps = { href: string; name: string; ts: number; isListed?: boolean; children?: ComponentChildren };

/** Something with a page of its own, and when it was seen. */
export function Seen({ href, name, ts, isListed = false, children }: SeenProps) {
  return (
    <li>
      <span>
        <span class="row">
          <a class="mono" href={href}>
            {visible(name)}
          </a>
          {isListed && <span class="status danger">listed</span>}
        </span>
        <span class="dim small block">{children}</span>
      </span>
      <span class="dim">
        <Ago ts={ts} />
      </span>
    </li>
  );
}
