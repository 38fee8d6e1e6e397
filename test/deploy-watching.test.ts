import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { everyMetric, labelsByName } from './metrics/every-metric.ts';
import { needsUnpacked } from './needs.ts';
import { temporaryFolder } from './temporary-folder.ts';

// What deploy/ has for Prometheus and Grafana.

const PROMETHEUS = fileURLToPath(new URL('../deploy/prometheus/', import.meta.url));
const RULES = readFileSync(join(PROMETHEUS, 'urlwarden.rules.yml'), 'utf8');

type Panel = { id: number; type: string; title: string; gridPos: Box; targets?: { expr: string }[] };
type Box = { x: number; y: number; w: number; h: number };
const DASHBOARD: { panels: Panel[]; annotations: { list: { expr: string }[] } } = JSON.parse(
  readFileSync(new URL('../deploy/grafana/urlwarden.json', import.meta.url), 'utf8'),
);

const names = (pattern: RegExp): string[] => [...RULES.matchAll(pattern)].map(([, name]) => `${name}`);
const ALERTS = names(/alert: (\w+)/g);

/** Each expression of the rules. In YAML it is in the same line, or indented below. */
const RULE_EXPRESSIONS = names(/expr: ((?:\|\n(?: {10,}.*\n)+)|.+\n)/g);

/** Those of the dashboard, with values for the variables that Grafana replaces. */
const PANEL_EXPRESSIONS = [
  ...DASHBOARD.panels.flatMap(({ targets }) => targets ?? []),
  ...DASHBOARD.annotations.list,
].map(({ expr }) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'));

function promtool(...args: string[]): string {
  needsUnpacked('promtool', 'prometheus');
  return execFileSync('promtool', args, { encoding: 'utf8', cwd: PROMETHEUS });
}

/** Labels that Prometheus adds to every series of a target. */
const ADDED = ['job', 'instance'];
/** Series of Prometheus itself, and one that a process has only after its first garbage collection, with their labels. */
const OTHERS: [string, string[]][] = [
  ['nodejs_gc_duration_seconds_sum', ['kind']],
  ['up', []],
  ['ALERTS', ['alertname', 'alertstate']],
];

/** What is wrong with the names of metrics and labels in an expression. */
function faultsIn(expression: string, known: Map<string, string[]>): string[] {
  const faults: string[] = [];
  const usable = new Set(ADDED);
  const words = expression.replace(/"[^"]*"/g, '""');
  for (const [, name = '', selector = ''] of words.matchAll(
    /\b((?:urlwarden|nodejs|process)_\w+|up|ALERTS)\b(?:\{([^}]*)\})?/g,
  )) {
    const labels = known.get(name);
    if (labels === undefined) faults.push(`no metric ${name}`);
    for (const label of labels ?? []) usable.add(label);
    for (const [, label = ''] of selector.matchAll(/(\w+)(?:=~|!~|!=|=)/g)) {
      if (!labels?.includes(label) && !ADDED.includes(label)) faults.push(`${name} has no label ${label}`);
    }
  }
  for (const [, list = ''] of words.matchAll(/\b(?:by|on|ignoring) \(([^)]*)\)/g)) {
    for (const label of list.split(', ')) if (!usable.has(label)) faults.push(`no label ${label} in: ${expression}`);
  }
  return faults;
}

describe('deploy/prometheus', () => {
  test('promtool accepts the configuration and the rules, and each alert is raised only when it should be', () => {
    promtool('check', 'config', 'prometheus.yml');
    promtool('test', 'rules', 'urlwarden.rules.test.yml');
    const tests = readFileSync(join(PROMETHEUS, 'urlwarden.rules.test.yml'), 'utf8');
    assert.deepEqual(
      ALERTS.filter((name) => !tests.includes(`{alertname="${name}"}`)),
      [],
    );
  });

  test('every alert is documented, and says what to do', () => {
    const documentation = readFileSync(new URL('../docs/operating.md', import.meta.url), 'utf8');
    assert.ok(ALERTS.length > 20);
    assert.deepEqual(
      [...documentation.matchAll(/`(Urlwarden[A-Z]\w+)`/g)].map(([, name]) => name).sort(),
      [...ALERTS].sort(),
    );
    for (const part of ['severity: (?:critical|warning)', 'summary:', 'description:'])
      assert.equal(names(new RegExp(`(${part})`, 'g')).length, ALERTS.length, part);
  });
});

describe('rules and dashboard', () => {
  test('use only metrics and labels that exist', async () => {
    const known = new Map([...labelsByName(await everyMetric()), ...OTHERS]);
    assert.equal(RULE_EXPRESSIONS.length, ALERTS.length);
    assert.ok(PANEL_EXPRESSIONS.length > 30);
    assert.deepEqual(
      [...RULE_EXPRESSIONS, ...PANEL_EXPRESSIONS].flatMap((text) => faultsIn(text, known)),
      [],
    );
  });

  test('show every metric of ours on the dashboard', async () => {
    const metrics = [...(await everyMetric()).matchAll(/^# TYPE (urlwarden_\w+)/gm)].map(([, name]) => `${name}`);
    const shown = PANEL_EXPRESSIONS.join('\n');
    assert.deepEqual(
      metrics.filter((name) => !new RegExp(`\\b${name}(?:_bucket)?\\{`).test(shown)),
      [],
    );
  });
});

describe('the dashboard', () => {
  test('has valid expressions', (t) => {
    const rules = PANEL_EXPRESSIONS.map((expr, i) => ({ record: `panel:${i}`, expr }));
    const file = join(temporaryFolder(t), 'panels.json');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] })); // JSON is YAML
    assert.match(promtool('check', 'rules', file), new RegExp(`${rules.length} rules found`));
  });

  test('has panels with different ids that do not overlap', () => {
    const { panels } = DASHBOARD;
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
    );
    assert.equal(new Set(cells).size, cells.length);
  });
});

test('the names, types and help of all metrics are as Prometheus expects them', async () => {
  needsUnpacked('promtool', 'prometheus');
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: await everyMetric(),
    encoding: 'utf8',
  });
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
});
