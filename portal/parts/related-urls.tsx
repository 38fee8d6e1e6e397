import { useEffect, useState } from 'preact/hooks';
import type { UrlPageResponse } from '../../src/portal/schemas.ts';
import { type ApiError, records } from '../api.ts';
import { visible } from '../format.ts';
import { toApiError } from '../load.ts';
import { searchPath } from '../query.ts';
import { type Related, relatedOf } from '../related.ts';
import { Card, Cost, Empty, Loading, Problem } from './basics.tsx';
import { AllUrls, type UrlRow, UrlTable } from './urls.tsx';

const RELATED_SHOWN = 50;

type Found = { rows: UrlRow[]; isMore: boolean };

/** Each kind is loaded when somebody asks for it, because it costs queries. */
export function RelatedUrls({ report }: { report: UrlPageResponse }) {
  const kinds = relatedOf(report);
  const [chosen, setChosen] = useState<Related | null>(null);
  if (kinds.length === 0) return null;
  return (
    <Card title="Related URLs" class="related">
      <div class="chips">
        {kinds.map((kind) => (
          <button
            key={kind.label}
            type="button"
            class="button round"
            aria-pressed={kind.label === chosen?.label}
            onClick={() => setChosen(kind)}
          >
            <span class="cut" title={visible(kind.label)}>
              {visible(kind.label)}
            </span>{' '}
            <Cost queries={kind.cost} />
          </button>
        ))}
      </div>
      {chosen === null ? (
        <Empty>Choose what to look for. Each counts as one query unless it says more.</Empty>
      ) : (
        <RelatedRows key={chosen.label} kind={chosen} ownUrl={report.url} />
      )}
    </Card>
  );
}

function RelatedRows({ kind, ownUrl }: { kind: Related; ownUrl: string }) {
  const [found, setFound] = useState<Found | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    readRelated(kind, ownUrl, abort.signal).then(
      setFound,
      (thrown) => abort.signal.aborted || setError(toApiError(thrown)),
    );
    return () => abort.abort();
  }, [kind.label]);
  if (error?.status === 404) return <Empty>No other URL in the last twelve months.</Empty>;
  if (error) return <Problem error={error} />;
  if (found === null) return <Loading what="Searching" />;
  return (
    <>
      <UrlTable
        caption={`Related URLs: ${visible(kind.label)}`}
        rows={found.rows}
        empty="No other URL in the last twelve months."
      />
      {found.isMore && <AllUrls path={searchPath(kind.name, kind.value)} cost={kind.cost} />}
    </>
  );
}

/** The first URLs that the search finds, each once. */
async function readRelated({ name, value }: Related, ownUrl: string, abort: AbortSignal): Promise<Found> {
  const rows = new Map<number, UrlRow>();
  const limit = RELATED_SHOWN * 4; // a URL has a record for every fact that matches
  let count = 0;
  for await (const page of records<UrlRow>(`/api/portal/v1/search?limit=${limit}`, { [name]: value }, abort)) {
    count += page.length;
    for (const row of page) {
      const known = rows.get(row.id);
      if (row.url !== ownUrl && (known === undefined || known.ts < row.ts)) rows.set(row.id, row);
    }
  }
  const sorted = [...rows.values()].sort((a, b) => b.ts - a.ts);
  return { rows: sorted.slice(0, RELATED_SHOWN), isMore: count >= limit || sorted.length > RELATED_SHOWN };
}
