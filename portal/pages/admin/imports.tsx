import '../../main.tsx';
import { useEffect, useState } from 'preact/hooks';
import type { RejectsResponse } from '../../../src/admin/imports.ts';
import { ADMIN_API } from '../../admin.ts';
import { get, mistake } from '../../api.ts';
import {
  changesText,
  durationText,
  IMPORT_WORDS,
  type Import,
  type ImportState,
  importPath,
  importsOfPath,
  uploadApi,
} from '../../feeds.ts';
import { bytesText, counted, numberText, visible, withoutCommands } from '../../format.ts';
import { formatOf, readMeaning } from '../../formats.ts';
import { useGet, useLoad } from '../../load.ts';
import { Ago, Badge, Card, Empty, Facts, Show, Time } from '../../parts/basics.tsx';
import { FormatFields } from '../../parts/format-fields.tsx';
import { Check, Field, Form, type FormTexts } from '../../parts/forms.tsx';
import { POLL_BUSY_MS, POLL_IDLE_MS, usePoll } from '../../parts/poll.ts';
import { countColumn, Table } from '../../parts/table.tsx';
import { upload } from '../../parts/upload.ts';
import { encoded } from '../../query.ts';
import { go, place } from '../../router.ts';

const IMPORTS = `${ADMIN_API}/imports`;

/** The server returns up to 200. */
const LIMIT = 40;

export function ImportsAdmin() {
  const { query } = place.value;
  const id = query.get('id');
  if (id !== null) return <OneImport id={id} />;
  return <AllImports feed={query.get('feed')} />;
}

function State({ state }: { state: ImportState }) {
  const { tone, word, text } = IMPORT_WORDS[state];
  return (
    <span title={text}>
      <Badge tone={tone}>{word}</Badge>
    </span>
  );
}

function AllImports({ feed }: { feed: string | null }) {
  const path = `${IMPORTS}?limit=${LIMIT}${feed === null ? '' : `&feed=${encoded(feed)}`}`;
  const loaded = useGet<{ items: Import[] }>(path);
  const isBusy = loaded.data?.items.some(({ state }) => state === 'running') ?? false;
  usePoll(loaded.data, loaded.reload, isBusy ? POLL_BUSY_MS : POLL_IDLE_MS);
  return (
    <>
      <h1>{feed === null ? 'Imports' : `Imports of ${visible(feed)}`}</h1>
      {feed === null ? (
        <Card title="Import a file">
          <Upload />
        </Card>
      ) : (
        <p>
          <a href="/admin/imports">← All imports</a>
        </p>
      )}
      <Card title={feed === null ? 'The newest imports' : 'Its newest imports'}>
        <Show loaded={loaded}>{({ items }) => <ImportTable imports={items} />}</Show>
      </Card>
    </>
  );
}

function ImportTable({ imports }: { imports: Import[] }) {
  return (
    <Table
      caption="Imports, the newest first"
      rows={imports}
      keyOf={({ id }) => id}
      empty="Nothing was imported yet. Choose a file above, or add a feed."
      columns={[
        {
          title: 'Started',
          sort: ({ started_ts: ts }) => ts,
          cell: ({ id, started_ts: ts, state }) => (
            <>
              <a href={importPath(id)} aria-label={`Import ${id}`}>
                <Ago ts={ts} />
              </a>
              <div class="narrow">
                <State state={state} />
              </div>
            </>
          ),
        },
        { title: 'State', isWide: true, sort: ({ state }) => state, cell: ({ state }) => <State state={state} /> },
        {
          title: 'Source',
          cell: ({ feed, source, read, rejected }) => (
            <div class="feed-name">
              <a href={importsOfPath(feed)}>{visible(feed)}</a>
              <small class="sub mono cut" title={visible(source)}>
                {visible(source)}
              </small>
              <small class="sub narrow">
                {counted(read, 'row')}
                {rejected > 0 && `, ${numberText(rejected)} rejected`}
              </small>
            </div>
          ),
        },
        { title: 'Format', isWide: true, sort: ({ format }) => format, cell: ({ format }) => visible(format) },
        countColumn('Rows', (row: Import) => row.read),
        countColumn('New URLs', (row: Import) => row.added),
        countColumn('Changed', (row: Import) => row.changed),
        countColumn('Rejected', (row: Import) => row.rejected),
        { title: 'Took', isNumber: true, isWide: true, cell: (one) => durationText(one) || '–' },
      ]}
    />
  );
}

function OneImport({ id }: { id: string }) {
  const path = `${IMPORTS}/${encoded(id)}`;
  const loaded = useGet<Import>(path);
  usePoll(loaded.data, loaded.reload, loaded.data?.state === 'running' ? POLL_BUSY_MS : null);
  return (
    <>
      <p>
        <a href="/admin/imports">← All imports</a>
      </p>
      <h1>Import {visible(id)}</h1>
      <Show loaded={loaded}>{(one) => <ImportCards one={one} />}</Show>
    </>
  );
}

function ImportCards({ one }: { one: Import }) {
  return (
    <div class="columns">
      <div>
        <Card>
          <div class="stack">
            <p class="verdict" role="status">
              <State state={one.state} />
              <span>
                {IMPORT_WORDS[one.state].text}
                {one.state === 'running' && ` ${counted(one.read, 'row')} read until now.`}
              </span>
            </p>
            {one.error !== null && <p class="said">{visible(withoutCommands(one.error))}</p>}
            <p>{changesText(one)}</p>
          </div>
        </Card>
        <Card title="Rejected rows" aside={<span class="dim">{counted(one.rejected, 'row')}</span>}>
          <Rejects one={one} />
        </Card>
      </div>
      <div>
        <Card title="About it">
          <Facts
            facts={{
              Feed: <a href={importsOfPath(one.feed)}>{visible(one.feed)}</a>,
              Source: <span class="mono">{visible(one.source)}</span>,
              Format: formatOf(one.format)?.text ?? visible(one.format),
              Started: <Time ts={one.started_ts} />,
              Took: durationText(one) || 'not finished',
              'Rows read': numberText(one.read),
            }}
          />
        </Card>
      </div>
    </div>
  );
}

function Rejects({ one }: { one: Import }) {
  const path = `${IMPORTS}/${one.id}/rejects`;
  // Asked again when the import has ended.
  const loaded = useLoad(`${path} ${one.state}`, (abort) => get<RejectsResponse>(path, abort));
  return (
    <Show loaded={loaded}>
      {({ reasons, others, total }) =>
        reasons.length === 0 ? (
          <Empty>{total === 0 ? 'No row was rejected.' : 'The rows were not kept.'}</Empty>
        ) : (
          <>
            {reasons.map(({ reason, count, samples }, i) => (
              <details key={reason} class="reason" open={i === 0}>
                <summary>
                  <span>{visible(reason)}</span>
                  <span class="count">{counted(count, 'row')}</span>
                </summary>
                <ol class="samples">
                  {samples.map(({ line, text }) => (
                    <li key={line}>
                      <span class="dim">line {numberText(line)}</span>
                      <code>{visible(text)}</code>
                    </li>
                  ))}
                </ol>
              </details>
            ))}
            {others > 0 && <p class="dim below">{counted(others, 'more row')} with other reasons.</p>}
          </>
        )
      }
    </Show>
  );
}

type Sending = { sent: number; total: number };

/** The server imports the file while it arrives. */
function Upload() {
  const [file, setFile] = useState<File | null>(null);
  const [sending, setSending] = useState<Sending | null>(null);
  const [abort] = useState(() => new AbortController());
  useEffect(() => () => abort.abort(), []); // whoever leaves the page stops it
  const send = async (texts: FormTexts) => {
    if (file === null) throw mistake('Choose a file first.');
    const { format = '', feed = '', complete } = texts;
    const choices = { format, feed, complete: complete === 'on' ? 'true' : '', ...readMeaning(texts) };
    const total = file.size;
    setSending({ sent: 0, total });
    try {
      const onSent = (sent: number) => setSending({ sent, total });
      const { id } = await upload<{ id: number }>(uploadApi(file.name, choices), file, onSent, abort.signal);
      go(importPath(id));
    } finally {
      setSending(null);
    }
  };
  return (
    <Form submit="Import" onSubmit={send}>
      <div class="upload">
        <DropZone file={file} onFile={setFile} />
        <div class="form">
          <FormatFields />
          <Field label="Feed" name="feed" hint="The source of the data. Empty: the name of the format." />
          <Check label="The file lists everything that is online: other URLs of this feed go offline" name="complete" />
        </div>
      </div>
      {sending && <Progress sending={sending} />}
    </Form>
  );
}

function DropZone({ file, onFile }: { file: File | null; onFile(file: File): void }) {
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null | undefined) => {
    const first = files?.[0];
    if (first) onFile(first);
  };
  const over = (event: DragEvent, is: boolean) => {
    event.preventDefault(); // otherwise the browser opens the file
    setOver(is);
  };
  return (
    <label
      class={`drop ${isOver ? 'over' : ''}`}
      onDragOver={(event) => over(event, true)}
      onDragLeave={(event) => over(event, false)}
      onDrop={(event) => {
        over(event, false);
        take(event.dataTransfer?.files);
      }}
    >
      <input
        type="file"
        class="unseen"
        onChange={(event) => {
          take(event.currentTarget.files);
          event.currentTarget.value = ''; // the same file can be chosen again
        }}
      />
      <strong>{file === null ? 'Choose a file, or drop it here' : visible(file.name)}</strong>
      <span class="dim">
        {file === null ? 'Plain, gzip or zip, up to 2 GiB' : `${bytesText(file.size)}. Choose another one`}
      </span>
    </label>
  );
}

function Progress({ sending: { sent, total } }: { sending: Sending }) {
  const text =
    sent < total
      ? `${bytesText(sent)} of ${bytesText(total)} sent. Stay on this page until all is sent.`
      : 'All is sent. The server reads the rest …';
  return (
    <div class="stack sending" role="status">
      <progress aria-label="Sent" value={sent} max={Math.max(1, total)} />
      <span>{text}</span>
    </div>
  );
}
