import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { bulkFile } from '../bulk-file.ts';
import { MAX_ROWS } from '../bulk-read.ts';
import { type Bulk, bulk, cancelBulk, forgetBulk, incompleteText, lookUp, markSaved, unanswered } from '../bulk-run.ts';
import { counted, numberText } from '../format.ts';
import { fitText, getLimits, type Limits, leftText } from '../limits.ts';
import { useLoad } from '../load.ts';
import '../main.tsx';
import type { PageProps } from '../main.tsx';
import { Badge, Card, Empty, isFocusFree, Problem, Show } from '../parts/basics.tsx';
import { BulkInput, clearField, Kinds } from '../parts/bulk-input.tsx';
import { BulkTable } from '../parts/bulk-table.tsx';
import { DownloadButtons } from '../parts/download-buttons.tsx';
import { hasPasted } from '../pasted.ts';
import { session } from '../session.ts';

/** Paste or drop a list, see what it costs, look it up. */
export function BulkPage(_: PageProps) {
  const owner = session.value?.sub ?? '';
  const current = bulk.value?.owner === owner ? bulk.value : null;
  const hasStarted = current !== null && current.phase !== 'reading' && current.phase !== 'read';
  useEffect(() => {
    if (hasStarted && current.phase !== 'running' && hasPasted()) forgetBulk();
  });
  return (
    <>
      <div class="page-head">
        <h1>Bulk lookup</h1>
        {hasStarted && current.phase !== 'running' && (
          <button type="button" class="button" onClick={anotherList}>
            Another list
          </button>
        )}
      </div>
      {!hasStarted && <BulkInput current={current} owner={owner} />}
      {current !== null && (hasStarted ? <Progress current={current} /> : <Preview current={current} owner={owner} />)}
      {current !== null && current.reading.rows.length > 0 && <BulkTable current={current} />}
    </>
  );
}

function anotherList(): void {
  clearField();
  forgetBulk();
}

/** A short text is read before anybody sees a bar. */
const BAR_BYTES = 500_000;

function Preview({ current, owner }: { current: Bulk; owner: string }) {
  const { reading, phase, part, blob, stop, isFull } = current;
  const isReading = phase === 'reading';
  if (!isReading && stop?.how === 'failed') return <Problem error={stop.error} />;
  return (
    <Card title="What is in it" aside={<Kinds current={current} owner={owner} />}>
      <div class="stack">
        {isReading && blob.size > BAR_BYTES && (
          <div class="row" role="status">
            <progress aria-label="Read" value={part} max={1} />
            <span>Reading: {Math.round(part * 100)} %</span>
          </div>
        )}
        <dl class="stats">
          <Figure value={reading.valid} name={reading.valid === 1 ? 'URL' : 'different URLs'} />
          <Figure value={reading.occurrences} name={`occurrences in ${counted(reading.lines, 'line')}`} />
          <Figure value={reading.defanged} name="read from a defanged form" />
          <Figure value={reading.invalid} name="not valid, will not be sent" />
        </dl>
        {reading.column !== null && (
          <p class="dim">Only the column “{reading.column}” is read. For every URL of the table, choose Text.</p>
        )}
        {isFull && (
          <p class="problem late">
            Only the first {numberText(MAX_ROWS)} were read: a page cannot have more. The command urlwarden check has no
            such limit.
          </p>
        )}
        {reading.valid > 0 && <Start current={current} />}
        {reading.valid === 0 && !isReading && (
          <Empty>
            There is no URL to look up. A URL begins with http://, https:// or ftp://; defanged forms such as hxxp://
            are read too.
          </Empty>
        )}
      </div>
    </Card>
  );
}

function Figure({ value, name }: { value: number; name: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={value === 0 ? 'dim' : ''}>{numberText(value)}</dd>
    </div>
  );
}

/** The cost, and what the limits say about it. */
function Start({ current }: { current: Bulk }) {
  const limits = useLoad('limits', getLimits);
  const cost = unanswered(current);
  return (
    <>
      <div class="row">
        <button type="button" class="button primary" disabled={current.phase === 'reading'} onClick={lookUp}>
          Look up {counted(cost, 'URL')}
        </button>
        <span class="cost" role="status">
          Counts as {counted(cost, 'query', 'queries')}
        </span>
        <Show loaded={limits}>
          {(response) => <span class="dim">{leftText(response) ?? 'You have no limit'}</span>}
        </Show>
      </div>
      {limits.data && <Fit cost={cost} limits={limits.data} />}
    </>
  );
}

function Fit({ cost, limits }: { cost: number; limits: Limits }) {
  const text = fitText(cost, limits);
  return text === null ? null : <p class="problem late">{text}</p>;
}

/** What has arrived, and how it ended. */
function Progress({ current }: { current: Bulk }) {
  const { phase, answered, found, charged, reading, stop } = current;
  const isRunning = phase === 'running';
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    // Whoever comes back stays where the page was left.
    if (isFocusFree()) section.current?.focus({ preventScroll: phase !== 'running' });
  }, [phase]);
  return (
    <section ref={section} class="card search-progress" tabIndex={-1}>
      <div class="page-head">
        <p class="verdict">
          {isRunning && <span class="busy-dot" aria-hidden="true" />}
          <strong class="figures">
            {phase === 'done'
              ? `${counted(answered, 'URL')} looked up`
              : `${numberText(answered)} of ${counted(reading.valid, 'URL')}`}
          </strong>
          <Badge tone={found > 0 ? 'danger' : 'off'}>{numberText(found)} found</Badge>
          <span role="status">{isRunning ? 'Looking up …' : phase === 'done' ? 'Complete' : 'Incomplete'}</span>
          {!isRunning && charged > 0 && <span>Counted as {counted(charged, 'query', 'queries')}</span>}
        </p>
        {isRunning ? (
          <button type="button" class="button danger" onClick={cancelBulk}>
            Stop
          </button>
        ) : (
          <Downloads current={current} />
        )}
      </div>
      {phase !== 'done' && <progress aria-label="Looked up" value={answered} max={Math.max(1, reading.valid)} />}
      {stop !== null && <Stopped current={current} />}
    </section>
  );
}

function Stopped({ current }: { current: Bulk }) {
  const { stop, answered } = current;
  const again = answered === 0 ? 'Try again' : `Go on with the other ${counted(unanswered(current), 'URL')}`;
  if (stop?.how === 'failed') return <Problem error={stop.error} retry={lookUp} again={again} />;
  return stop?.how === 'cut' ? (
    <Notice title="The connection was cut" again={again}>
      The results so far are kept. URLs that were counted and whose results did not arrive are counted once more if you
      go on.
    </Notice>
  ) : (
    <Notice title="You stopped it" again={again}>
      The results so far are kept.
    </Notice>
  );
}

function Notice({ title, again, children }: { title: string; again: string; children: ComponentChildren }) {
  return (
    <div class="problem late" role="alert">
      <strong>{title}</strong>
      <p>{children}</p>
      <button type="button" class="button" onClick={lookUp}>
        {again}
      </button>
    </div>
  );
}

const FORMATS = ['csv', 'ndjson'] as const;

/** Every row with a result, whatever is chosen below. */
function Downloads({ current }: { current: Bulk }) {
  const { name, reading, answered } = current;
  if (answered === 0) return null;
  return (
    <div class="chips">
      <DownloadButtons
        formats={FORMATS}
        name={`bulk-${name || 'list'}`}
        what="all results"
        titleOf={() => 'All results, without regard to the filter'}
        linesOf={(format) => bulkFile(format, reading.rows, incompleteText(current))}
        onSaved={() => markSaved(current)}
      />
    </div>
  );
}
