import { useEffect, useState } from 'preact/hooks';
import { curlLine } from '../curl-examples.ts';
import { type Caller, counted, loginLine, visible } from '../format.ts';
import { useGet } from '../load.ts';
import '../main.tsx';
import type { PageProps } from '../main.tsx';
import {
  accessText,
  bodyOf,
  chargeText,
  type Document,
  descriptionOf,
  groupsOf,
  isFound,
  type Operation,
  operationsOf,
  ownErrors,
  type Parameter,
  responseOf,
  rowsOf,
  type SchemaRow,
  type StatusText,
  sharedErrors,
  type Typed,
  typeText,
} from '../openapi.ts';
import { Card, CopyButton, Empty, Show } from '../parts/basics.tsx';
import { place } from '../router.ts';
import { session } from '../session.ts';

export function ApiPage(_: PageProps) {
  const loaded = useGet<Document>('/openapi.json');
  return (
    <>
      <div class="page-head">
        <h1>API</h1>
        <a href="/openapi.json">OpenAPI document</a>
      </div>
      <Show loaded={loaded} what="Loading the operations">
        {(document) => <Operations document={document} />}
      </Show>
    </>
  );
}

/** The page does not know the password: people put it in the place of the dots. */
const callerOf = (): Caller => ({
  origin: location.origin,
  username: session.value?.username ?? 'demo@example.com',
  password: '…',
});

/** The operation that the address names, such as `/api#urlLast`. */
function namedOperation(): string {
  void place.value; // who asks is shown again when the address changes
  return location.hash.slice(1);
}

function Operations({ document }: { document: Document }) {
  const [filter, setFilter] = useState('');
  const operations = operationsOf(document);
  const found = operations.filter((operation) => isFound(operation, filter));
  const groups = groupsOf(found);
  const shared = sharedErrors(operations);
  return (
    <>
      <Card title="Log in first">
        <div class="stack">
          <p>
            This sets <code>TOKEN</code> for the commands below. It is valid for a day. Put your password in place of …
          </p>
          <Command line={loginLine(callerOf())} what="Login" />
        </div>
      </Card>
      <div class="api-filter">
        <label class="field">
          <span>Filter</span>
          <input
            type="search"
            value={filter}
            placeholder="For example: history, POST domain, sha256"
            autoComplete="off"
            spellcheck={false}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </label>
        <p class="dim small" role="status">
          {counted(found.length, 'operation')}
        </p>
      </div>
      {groups.length === 0 && <Empty>No operation has all of these words.</Empty>}
      {groups.map((group) => (
        <Card key={group.title} title={group.title} aside={<span class="dim">{group.operations.length}</span>}>
          {group.operations.map((operation) => (
            <OperationPart key={operation.operationId} operation={operation} document={document} shared={shared} />
          ))}
        </Card>
      ))}
      <Card title="Errors">
        <div class="stack">
          <p>Every operation may respond with {statusList(shared)}. An error is JSON:</p>
          <Rows rows={rowsOf({ $ref: '#/components/schemas/Error' }, document)} caption="Fields of an error" />
        </div>
      </Card>
    </>
  );
}

const statusList = (statuses: readonly StatusText[]): string =>
  visible(statuses.map(({ status, text }) => `${status} ${text}`).join(', '));

type OperationProps = { operation: Operation; document: Document; shared: readonly StatusText[] };

/** Its content is made when it is opened: all of them together are thousands of lines. */
function OperationPart({ operation, document, shared }: OperationProps) {
  const { operationId, method, path, summary } = operation;
  const named = namedOperation();
  const [isOpen, setOpen] = useState(named === operationId);
  useEffect(() => {
    if (named !== operationId) return;
    setOpen(true);
    globalThis.document.getElementById(operationId)?.scrollIntoView();
  }, [named]);
  return (
    <details class="operation" id={operationId} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class={`method ${method === 'GET' ? 'info' : 'ok'}`}>{method}</span>
        <span class="mono operation-path">{visible(path)}</span>
        <span class="operation-summary">{visible(summary)}</span>
      </summary>
      {isOpen && <Content operation={operation} document={document} shared={shared} />}
    </details>
  );
}

const FORMATS: Record<string, string> = {
  'application/json': 'JSON',
  'application/x-ndjson': 'NDJSON, one record in each line',
  'application/octet-stream': 'a file',
};

function Content({ operation, document, shared }: OperationProps) {
  const { operationId, parameters = [] } = operation;
  const body = bodyOf(operation);
  const response = responseOf(operation);
  const errors = ownErrors(operation, shared);
  return (
    <div class="stack operation-content">
      <ul class="chips">
        <li class="chip">{visible(accessText(operation))}</li>
        {chargeText(operation) && <li class="chip">{chargeText(operation)}</li>}
        <li>
          <a href={`#${operationId}`} class="small">
            Link to this operation
          </a>
        </li>
      </ul>
      <Command line={curlLine(operation, document, callerOf())} what="Command" />
      {parameters.length > 0 && (
        <Rows
          title="Parameters"
          rows={parameters.map((parameter) => parameterRow(parameter, document))}
          caption="Parameters"
          mark="required"
        />
      )}
      {body && <SchemaPart title="Body" typed={body} document={document} mark="required" />}
      {response && <SchemaPart title="Response" typed={response} document={document} mark="optional" />}
      {errors.length > 0 && (
        <div>
          <h3>Other statuses</h3>
          <p class="small">{statusList(errors)}</p>
        </div>
      )}
    </div>
  );
}

function parameterRow({ in: place, name, required, schema, description }: Parameter, document: Document): SchemaRow {
  const bounds = descriptionOf({ ...schema, description: description ?? schema.description ?? '' });
  return {
    depth: 0,
    name: place === 'path' ? `{${name}}` : `?${name}`,
    type: typeText(schema, document),
    isRequired: required,
    description: bounds,
  };
}

type SchemaProps = { title: string; typed: Typed; document: Document; mark: Mark };

function SchemaPart({ title, typed: { contentType, schema }, document, mark }: SchemaProps) {
  const about = schema ? descriptionOf(schema) : '';
  const type = schema ? typeText(schema, document) : '';
  return (
    <Rows
      title={title}
      about={[FORMATS[contentType] ?? contentType, type !== 'object' && type, about].filter(Boolean).join('. ')}
      rows={schema ? rowsOf(schema, document) : []}
      caption={`Fields of the ${title.toLowerCase()}`}
      mark={mark}
    />
  );
}

type RowsProps = { title?: string; about?: string; rows: readonly SchemaRow[]; caption: string; mark?: Mark };
/** Which fields are marked: in requests those that must be there, in responses those that may be missing. */
type Mark = 'required' | 'optional';

function Rows({ title, about, rows, caption, mark = 'optional' }: RowsProps) {
  return (
    <div>
      {title && (
        <h3>
          {title} {about && <span class="schema-format">{visible(about)}</span>}
        </h3>
      )}
      {rows.length > 0 && (
        <ul class="schema" aria-label={caption}>
          {rows.map(({ depth, name, type, isRequired, description }, i) => (
            <li key={i} style={{ '--depth': depth }}>
              <span class="schema-name mono">{visible(name)}</span>
              <span class="schema-about">
                <span class="mono">{visible(type)}</span>
                {isRequired === (mark === 'required') && <em>{mark}</em>}
                {description && <span class="dim">{visible(description)}</span>}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Command({ line, what }: { line: string; what: string }) {
  return (
    <div class="command">
      <pre>{visible(line)}</pre>
      <CopyButton text={line} what={`${what} copied`}>
        Copy
      </CopyButton>
    </div>
  );
}
