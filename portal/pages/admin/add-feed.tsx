import { useState } from 'preact/hooks';
import type { KnownFeedResponse } from '../../../src/admin/feeds.ts';
import { ADMIN_API } from '../../admin.ts';
import { type ApiError, post } from '../../api.ts';
import { everyText, intervalOptions, readHeader } from '../../feeds.ts';
import { DAY, visible } from '../../format.ts';
import { readMeaning } from '../../formats.ts';
import { type Loaded, toApiError } from '../../load.ts';
import { Badge, Card, Problem, Show, say } from '../../parts/basics.tsx';
import { FormatFields } from '../../parts/format-fields.tsx';
import { Check, Field, Form, type FormTexts, Select } from '../../parts/forms.tsx';

export const FEEDS = `${ADMIN_API}/feeds`;

type AddProps = { known: Loaded<{ items: KnownFeedResponse[] }>; onAdded(): void };

/** A well-known feed needs one click, any other a form. */
export function AddFeed({ known, onAdded }: AddProps) {
  return (
    <div class="columns">
      <div>
        <Card title="Well-known feeds">
          <Show loaded={known}>{({ items }) => <KnownFeeds feeds={items} onAdded={onAdded} />}</Show>
        </Card>
      </div>
      <div>
        <Card title="Another feed">
          <OtherFeed onAdded={onAdded} />
        </Card>
      </div>
    </div>
  );
}

function KnownFeeds({ feeds, onAdded }: { feeds: KnownFeedResponse[]; onAdded(): void }) {
  return (
    <ul class="plain-list known">
      {feeds.map((feed) => (
        <KnownItem key={feed.name} feed={feed} onAdded={onAdded} />
      ))}
    </ul>
  );
}

const KEY_HEADER = 'Auth-Key';

function KnownItem({ feed, onAdded }: { feed: KnownFeedResponse; onAdded(): void }) {
  const [error, setError] = useState<ApiError | null>(null);
  const [isSending, setSending] = useState(false);
  const { name, about, terms, interval_seconds: seconds, needs_key: needsKey, uses_key: usesKey, added } = feed;
  const add = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isSending) return;
    const key = String(new FormData(event.currentTarget as HTMLFormElement).get('key') ?? '').trim();
    setSending(true);
    setError(null);
    try {
      await post(FEEDS, { known: name, ...(key && { headers: { [KEY_HEADER]: key } }) });
      say(`${visible(name)} is added and fetched at once.`);
      onAdded();
    } catch (thrown) {
      setError(toApiError(thrown));
    }
    setSending(false);
  };
  return (
    <li>
      <form onSubmit={add}>
        <div class="known-text">
          <strong>{visible(name)}</strong> <span>{visible(about.replaceAll('`', ''))}</span>
          <small class="sub">
            {everyText(seconds)}; {visible(terms)}
          </small>
          {usesKey && !added && (
            <Field
              isSecret
              label={needsKey ? 'Access key' : 'Access key, if you have one'}
              name="key"
              about={`Access key of ${visible(name)}`}
              isRequired={needsKey}
            />
          )}
          {error && <Problem error={error} />}
        </div>
        {added ? (
          <Badge tone="ok">added</Badge>
        ) : (
          <button type="submit" class="button" aria-label={`Add ${visible(name)}`} aria-disabled={isSending}>
            {isSending ? 'Adding …' : 'Add'}
          </button>
        )}
      </form>
    </li>
  );
}

function OtherFeed({ onAdded }: { onAdded(): void }) {
  const [round, setRound] = useState(0);
  const add = async (texts: FormTexts) => {
    const { name, format, url, every, complete } = texts;
    await post(FEEDS, {
      name,
      format,
      url,
      interval_seconds: Number(every),
      ...readMeaning(texts),
      ...readHeader(texts),
      ...(complete === 'on' && { complete: true }),
      ...(texts.private === 'on' && { private: true }),
    });
    say(`${visible(name ?? '')} is added and fetched at once.`);
    setRound(round + 1); // an empty form
    onAdded();
  };
  return (
    <Form key={round} submit="Add the feed" onSubmit={add}>
      <Field label="Name" name="name" isRequired />
      <Field label="Address" name="url" isRequired />
      <FormatFields />
      <Select label="How often" name="every" value={String(DAY)} options={intervalOptions(DAY)} />
      <details class="more">
        <summary>More</summary>
        <div class="form">
          <HeaderFields hint="It is never shown again." />
          <Check label="Each fetch lists everything that is online" name="complete" />
          <Check label="It is in a private network that the server allows" name="private" />
        </div>
      </details>
    </Form>
  );
}

export function HeaderFields({ hint }: { hint: string }) {
  return (
    <fieldset name="headers">
      <legend>Header with an access key</legend>
      <div class="two">
        <Field label="Name" name="header" hint="Such as Auth-Key or Authorization." />
        <Field isSecret label="Value" name="secret" hint={hint} />
      </div>
    </fieldset>
  );
}
