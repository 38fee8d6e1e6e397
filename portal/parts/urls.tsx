import type { ComponentChildren } from 'preact';
import { acceptCost } from '../cost.ts';
import { visible } from '../format.ts';
import { searchPath, urlPath } from '../query.ts';
import { Ago, Cost, Status } from './basics.tsx';
import { FOLDED, Table } from './table.tsx';

export type UrlRow = { id: number; url: string; status: string | null; ts: number; family: string | null };

/** URLs with their last status and family. On a phone the status and the time are below the URL. */
export function UrlTable({ caption, rows, empty }: { caption: string; rows: UrlRow[]; empty: ComponentChildren }) {
  return (
    <Table
      most={FOLDED}
      caption={caption}
      rows={rows}
      keyOf={({ id }) => id}
      empty={empty}
      columns={[
        {
          title: 'URL',
          cell: ({ url, status, ts }) => (
            <>
              <UrlLink url={url} />
              <span class="sub narrow">
                <Status status={status} />, <Ago ts={ts} />
              </span>
            </>
          ),
        },
        { title: 'Status', isWide: true, cell: ({ status }) => <Status status={status} /> },
        { title: 'Family', cell: ({ family }) => <Family family={family} /> },
        { title: 'Seen', isWide: true, cell: ({ ts }) => <Ago ts={ts} /> },
      ]}
    />
  );
}

/** To our page about the URL. */
export function UrlLink({ url }: { url: string }) {
  return (
    <a class="mono cut" href={urlPath(url)}>
      {visible(url)}
    </a>
  );
}

/** A link to the URLs with this malware family. */
export function Family({ family }: { family: string | null }) {
  if (family === null) return <span class="dim">unknown</span>;
  return (
    <a class="name" title={visible(family)} href={searchPath('malware_family', family)}>
      {visible(family)}
    </a>
  );
}

/** To the search that finds all of which a card has some. */
export function AllUrls({ path, cost }: { path: string; cost: number }) {
  return (
    <p>
      <a href={path} onClick={() => acceptCost(path)}>
        All of them, with filters and downloads
      </a>{' '}
      <Cost queries={cost} />
    </p>
  );
}
