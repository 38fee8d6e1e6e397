import { defang, visible } from '../format.ts';
import { searchPath } from '../question.ts';
import { CopyButton } from './basics.tsx';

// Parts of the pages about one thing: a URL, an address, a network, a domain.

type CopyProps = { text: string; what: string; curl: string; report: object };

/** The text itself, its defanged form, the same question to the API, and the answer. */
export function CopyButtons({ text, what, curl, report }: CopyProps) {
  const defanged = defang(text);
  return (
    <div class="chips">
      <CopyButton text={text} what={`${what.charAt(0).toUpperCase()}${what.slice(1)} copied`}>
        Copy
      </CopyButton>
      {defanged !== text && (
        <CopyButton text={defanged} what={`Defanged ${what} copied`}>
          Defanged
        </CopyButton>
      )}
      <CopyButton text={curl} what="curl command copied">
        curl
      </CopyButton>
      <CopyButton text={JSON.stringify(report, null, 2)} what="JSON copied">
        JSON
      </CopyButton>
    </div>
  );
}

/** The answer of the server as it came. */
export function Raw({ report }: { report: object }) {
  return (
    <details class="card">
      <summary>Raw JSON</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable */}
      <pre tabIndex={0}>{visibleLines(JSON.stringify(report, null, 2))}</pre>
    </details>
  );
}

/** Keeps the lines. */
const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n');

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

/** How many a card has. */
export function Shown({ count, isTruncated }: { count: number; isTruncated: boolean }) {
  return <span class="dim">{isTruncated ? `first ${count}` : count}</span>;
}
