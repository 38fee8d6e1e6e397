import '../../main.tsx';
import { useState } from 'preact/hooks';
import type { TierItem } from '../../../src/admin/wire.ts';
import { DATASETS } from '../../../src/core/tier.ts';
import { ADMIN_API, derivedRates, limitText, type Rates, readCount } from '../../admin.ts';
import { get, mistake, post } from '../../api.ts';
import { NO_LIMIT, numberText, visible } from '../../format.ts';
import { useGet } from '../../load.ts';
import type { PageProps } from '../../main.tsx';
import { Ask } from '../../parts/ask.tsx';
import { Badge, Card, Show, say } from '../../parts/basics.tsx';
import { Check, Field, type FormTexts } from '../../parts/forms.tsx';
import { countColumn, Table } from '../../parts/table.tsx';
import { encoded } from '../../query.ts';

const TIERS = `${ADMIN_API}/tiers`;

export function TiersAdmin(_: PageProps) {
  const loaded = useGet<{ items: TierItem[] }>(TIERS);
  return (
    <>
      <div class="page-head">
        <h1>Tiers</h1>
        <Ask text="Add a tier" submit="Add" isPrimary act={addTier} onDone={loaded.reload}>
          <TierFields tier={null} />
        </Ask>
      </div>
      <p class="dim">
        A tier is a named set of limits. Passing the soft limit of a month is only written to the log; above the hard
        limit queries are refused.
      </p>
      <Card>
        <Show loaded={loaded}>{({ items }) => <TierTable tiers={items} reload={loaded.reload} />}</Show>
      </Card>
    </>
  );
}

function TierTable({ tiers, reload }: { tiers: TierItem[]; reload(): void }) {
  return (
    <Table
      caption="Tiers"
      rows={tiers}
      keyOf={({ name }) => name}
      empty="There is no tier."
      columns={[
        { title: 'Tier', cell: (tier) => <TierName tier={tier} /> },
        { title: 'Soft', isNumber: true, isWide: true, sort: ({ qms }) => qms, cell: ({ qms }) => limitText(qms) },
        { title: 'Hard', isNumber: true, sort: ({ qmh }) => qmh, cell: ({ qmh }) => limitText(qmh) },
        { title: 'Per hour', isNumber: true, isWide: true, cell: ({ rl_qph: rate }) => limitText(rate) },
        { title: 'Per minute', isNumber: true, isWide: true, cell: ({ rl_qpm: rate }) => limitText(rate) },
        { title: 'Per second', isNumber: true, isWide: true, cell: ({ rl_qps: rate }) => limitText(rate) },
        { title: 'Datasets', isWide: true, cell: ({ ads }) => datasetText(ads) },
        countColumn('Accounts', (row: TierItem) => row.accounts),
        { title: 'Actions', cell: (tier) => <TierActions tier={tier} reload={reload} /> },
      ]}
    />
  );
}

function TierName({ tier: { name, built_in: isBuiltIn } }: { tier: TierItem }) {
  return (
    <span class="row tight">
      <strong class="cut">{visible(name)}</strong>
      {isBuiltIn && <Badge tone="off">built in</Badge>}
    </span>
  );
}

function datasetText(ads: readonly string[]): string {
  return DATASETS.every((name) => ads.includes(name)) ? 'all' : visible(ads.join(', '));
}

function TierActions({ tier, reload }: { tier: TierItem; reload(): void }) {
  const { name, accounts } = tier;
  if (tier.built_in) return <span class="dim small">cannot be changed</span>;
  return (
    <span class="row tight">
      <Ask
        text="Change"
        about={name}
        title={`Change ${visible(name)}`}
        submit="Save"
        act={(texts) => setTier({ ...texts, name })}
        onDone={reload}
      >
        {accounts > 0 && (
          <p>
            {accounts === 1 ? 'One account has' : `${numberText(accounts)} accounts have`} this tier: the new limits are
            theirs within five seconds.
          </p>
        )}
        <TierFields tier={tier} />
      </Ask>
      <Ask
        text="Remove"
        about={name}
        title={`Remove ${visible(name)}`}
        submit="Remove"
        isDangerous
        act={async () => {
          await post(`${TIERS}/${encoded(name)}/remove`, {});
          say(`Tier ${visible(name)} removed.`);
        }}
        onDone={reload}
      >
        <p>Only a tier that no account has can be removed.</p>
      </Ask>
    </span>
  );
}

const RATES: [key: keyof Rates, label: string][] = [
  ['rl_qph', 'Queries per hour'],
  ['rl_qpm', 'Queries per minute'],
  ['rl_qps', 'Queries per second'],
];

const DATASET_PREFIX = 'ads-';

/** A new tier must not have the name of another, which somebody may have added meanwhile: the server would replace its limits. */
async function addTier(texts: FormTexts): Promise<void> {
  const { name = '' } = texts;
  const { items } = await get<{ items: TierItem[] }>(TIERS);
  if (items.some((tier) => tier.name === name)) {
    throw mistake(`There is a tier ${visible(name)} already. Choose another name, or change that tier.`);
  }
  return setTier(texts);
}

async function setTier(texts: FormTexts): Promise<void> {
  const { name = '', trs } = texts;
  const ads = Object.keys(texts)
    .filter((key) => key.startsWith(DATASET_PREFIX))
    .map((key) => key.slice(DATASET_PREFIX.length));
  const rates = RATES.map(([key, label]) => [key, readCount(texts[key], label, null)] as const);
  const qmh = readCount(texts.qmh, 'Hard limit', NO_LIMIT) ?? NO_LIMIT;
  const qms = readCount(texts.qms, 'Soft limit', qmh) ?? qmh;
  if (qms > qmh && qms < NO_LIMIT)
    throw mistake(`Soft limit: write at most the hard limit, ${numberText(qmh)}, or leave the field empty.`);
  await post(TIERS, {
    name,
    qmh,
    qms,
    ads,
    ...(trs !== undefined && { trs }),
    ...Object.fromEntries(rates.filter(([, rate]) => rate !== null)),
  });
  say(`Tier ${visible(name)} saved.`);
}

const countField = (limit: number | undefined): string =>
  limit === undefined || limit >= NO_LIMIT ? '' : String(limit);

/** The rates that follow from the hard limit are shown while it is typed. */
function TierFields({ tier }: { tier: TierItem | null }) {
  const [hard, setHard] = useState(countField(tier?.qmh));
  const derived = derivedRates(hardOf(hard));
  const saved = tier && derivedRates(tier.qmh);
  return (
    <>
      {tier === null && <Field label="Name" name="name" isRequired />}
      <div class="two">
        <Field label="Soft limit of a month" name="qms" value={countField(tier?.qms)} hint="Empty: as the hard limit" />
        <label class="field">
          <span>Hard limit of a month</span>
          <input
            name="qmh"
            defaultValue={hard}
            inputMode="numeric"
            autoComplete="off"
            onInput={(event) => setHard(event.currentTarget.value)}
          />
          <small>Empty: no limit</small>
        </label>
      </div>
      <fieldset>
        <legend>Rates, if they differ from those that follow from the hard limit</legend>
        <div class="three">
          {RATES.map(([key, label]) => (
            <Field
              key={key}
              label={label}
              name={key}
              // A rate that follows from the limit is left empty, so that it follows a new limit as well.
              value={tier === null || tier[key] === saved?.[key] ? '' : String(tier[key])}
              hint={`Empty: ${hardOf(hard) >= NO_LIMIT ? 'no limit' : numberText(derived[key])}`}
            />
          ))}
        </div>
      </fieldset>
      <fieldset>
        <legend>Datasets</legend>
        <div class="row">
          {DATASETS.map((name) => (
            <Check
              key={name}
              label={name}
              name={`${DATASET_PREFIX}${name}`}
              isChecked={tier === null || tier.ads.includes(name)}
            />
          ))}
        </div>
      </fieldset>
      <Field label="Access level" name="trs" value={tier?.trs ?? ''} hint="Shown to clients. Empty: base" />
    </>
  );
}

/** While somebody types, a text that is no number counts as no limit; the form refuses it later. */
function hardOf(text: string): number {
  try {
    return readCount(text, '', NO_LIMIT) ?? NO_LIMIT;
  } catch {
    return NO_LIMIT;
  }
}
