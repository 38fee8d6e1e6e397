import { numberText, visible } from '../../../format.ts';
import { networkPath } from '../../../query.ts';

// What the cards of the page "Lists by hand" share.

export function Truncated({ isTruncated, shown }: { isTruncated: boolean; shown: number }) {
  return isTruncated ? <p class="dim small below">There are more: these are the first {numberText(shown)}.</p> : null;
}

export const REASON_HINT = 'Others will ask why.';

export const Reason = ({ text }: { text: string }) =>
  text === '' ? <span class="dim">none given</span> : <span class="reason-text">{visible(text)}</span>;

/** On a phone the reason is below it. */
export function Network({ cidr, reason }: { cidr: string; reason: string }) {
  return (
    <span class="network">
      <a class="mono" href={networkPath(cidr)}>
        {visible(cidr)}
      </a>
      <small class="sub narrow">{visible(reason)}</small>
    </span>
  );
}
