import { createChangeRecorder } from '../../database/changes.ts';
import { putChanges } from '../../database/postgres/changes.ts';
import type { Database, Session } from '../../database/postgres/database.ts';
import { domainIds, domainsOf, hostIds, sourceIds } from '../../database/postgres/dictionaries.ts';
import { HOLD_HOSTS } from '../../database/postgres/host-names.ts';
import { createLock, inOrder } from '../../database/postgres/lock-order.ts';
import { withoutNul } from '../../database/postgres/parameters.ts';
import { changeSettings, type SetDomainRow, type SettingsRow, toSetDomain, toSettingsRow } from '../domain-rows.ts';
import { type EvidenceGroup, type FactRows, groupEvidence, groupFacts } from '../domain-rules.ts';
import type { ReputationStore, SettingsChange } from '../store.ts';
import { compareIds, evidenceWithIds, idOf, lockEvidence, updateEvidence } from './domain-evidence.ts';
import { lockWhois, putFacts, updateWhois, whoisWithIds } from './domain-facts.ts';

// The settings may have no row yet. They are read by another statement, which sees what the former holder of the lock set.
const LOCK_DOMAIN = 'select 1 from domains where id = $1 for no key update';
const SETTINGS = 'select human, is_abused, reason, set_ts from domain_settings where domain_id = $1';

const PUT_SETTINGS = `
  insert into domain_settings (domain_id, human, is_abused, reason, set_ts) values ($1, $2, $3, $4, $5)
  on conflict (domain_id) do update
  set human = excluded.human, is_abused = excluded.is_abused, reason = excluded.reason, set_ts = excluded.set_ts`;

/** By id, so that no more rows are read than returned. */
const SET_DOMAINS = `
  select d.name, s.human, s.is_abused, s.reason, s.set_ts
  from domain_settings s join domains d on d.id = s.domain_id order by s.domain_id desc limit $1`;

export function createWriteDomains(
  primary: Database,
): Pick<ReputationStore, 'applyDomains' | 'setDomain' | 'setDomains'> {
  return {
    async applyDomains(evidence, facts) {
      if (evidence.length + facts.length === 0) return 0;
      const groups = groupEvidence(evidence);
      const rows = groupFacts(facts);
      return primary.transaction((session) => applyRows(session, groups, rows));
    },

    setDomain: (name, change) =>
      primary.transaction(async (session) => {
        const lock = createLock();
        const recorder = createChangeRecorder();
        const { domains } = await lock({ domains: () => domainIds(session, new Set([name]), recorder) });
        recorder.domain(name, 'update');
        const id = idOf(domains, name);
        const { names } = await lock({
          names: () =>
            inOrder([() => session.run(LOCK_DOMAIN, [id]), () => session.query<SettingsRow>(SETTINGS, [id])]),
        });
        const changed = changeSettings(names[1][0], withStorableReason(change));
        const row = toSettingsRow(changed.settings);
        await Promise.all([session.run(PUT_SETTINGS, [id, ...row]), putChanges(session, recorder)]);
        return changed;
      }),

    setDomains: async (limit) => (await primary.query<SetDomainRow>(SET_DOMAINS, [limit])).map(toSetDomain),
  };
}

function withStorableReason(change: SettingsChange): SettingsChange {
  return change.reason === undefined ? change : { ...change, reason: withoutNul(change.reason) };
}

/**
 * Three round trips between begin and commit: texts are added; new rows are added and the others locked; what differs
 * after merging is updated. Of two transactions that add the same row, the second one waits for the first, and then reads
 * its row.
 */
async function applyRows(session: Session, groups: readonly EvidenceGroup[], facts: FactRows): Promise<number> {
  const texts = textsOf(groups, facts);
  const lock = createLock();
  const recorder = createChangeRecorder();
  const ids = await lock({
    host_table: () => session.run(HOLD_HOSTS),
    sources: () => sourceIds(session, texts.sources),
    domains: () => domainIds(session, texts.domains, recorder),
    hosts: () => hostIds(session, texts.hosts),
  });
  const evidence = groups.map((group) => evidenceWithIds(group, ids)).sort((a, b) => compareIds(a.ids, b.ids));
  const whois = facts.whois.map((row) => whoisWithIds(row, ids)).sort((a, b) => compareIds(a.ids, b.ids));
  const { names } = await lock({
    names: () =>
      inOrder([
        () => lockEvidence(session, evidence),
        () => lockWhois(session, whois),
        () => putFacts(session, facts, ids),
      ]),
  });
  const [lockedEvidence, lockedWhois, putFact] = names;
  const namesById = new Map([...ids.domains].map(([name, id]) => [id, name]));
  const record = (id: number) => recorder.domain(namesById.get(id) as string, 'update');
  const added = [...lockedEvidence.added, ...lockedWhois.added].map(([id]) => id);
  for (const id of [...added, ...putFact.domainIds]) record(id);
  const [evidenceUpdated, whoisUpdated] = await Promise.all([
    updateEvidence(session, evidence, lockedEvidence.stored, record),
    updateWhois(session, whois, lockedWhois.stored, record),
    putChanges(session, recorder),
  ]);
  return added.length + evidenceUpdated + whoisUpdated + putFact.changed;
}

function textsOf(groups: readonly EvidenceGroup[], facts: FactRows) {
  const sources = new Set([...groups.map(({ key }) => key.source), ...facts.ranks.map(({ source }) => source)]);
  const hosts = new Set([
    ...groups.map(({ key }) => key.name.hostname),
    ...facts.addresses.map(({ name }) => name.hostname),
    ...facts.servers.map(({ server }) => server.hostname),
  ]);
  // Not of ranks: a popularity list has a million names, of which few have anything else.
  const named = [...facts.servers, ...facts.senders, ...facts.whois].map(({ domain }) => domain);
  return { sources, hosts, domains: new Set([...named, ...domainsOf(hosts)]) };
}
