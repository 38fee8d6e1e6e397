import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

// CrowdSec's local API with its own database: the Debian package `crowdsec`, or the binary in the variable CROWDSEC.

export const API_KEY = 'urlwarden-bench';
const BINARY = process.env.CROWDSEC ?? 'crowdsec';
const START_TIMEOUT_MS = 30_000;

/** Null when CrowdSec is not installed. */
export function crowdsecVersion(): string | null {
  const { error, stderr, stdout } = spawnSync(BINARY, ['-version'], { encoding: 'utf8' });
  return error ? null : (/version: (\S+)/.exec(stderr + stdout)?.[1] ?? 'unknown');
}

/** Creates the folder unless it exists, with a database that has one decision per URL. */
export async function crowdsecFolder(folder: string, values: () => Iterable<string>): Promise<void> {
  if (existsSync(folder)) return;
  const unfinished = `${folder}-unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  await (await startCrowdsec(unfinished)).stop(); // creates the tables
  fill(join(unfinished, 'crowdsec.db'), values());
  renameSync(unfinished, folder);
}

const DECISION = `
  insert into decisions (created_at, updated_at, until, scenario, type, scope, value, origin)
  values (datetime(), datetime(), '2099-01-01 00:00:00+00:00', 'bench', 'ban', 'url', ?, 'cscli')`;

const BOUNCER = `
  insert into bouncers (name, api_key, revoked, last_pull, auth_type) values ('bench', ?, false, datetime(), 'api-key')`;

function fill(path: string, values: Iterable<string>): void {
  const db = new DatabaseSync(path);
  db.exec('begin');
  db.prepare(BOUNCER).run(createHash('sha512').update(API_KEY).digest('hex'));
  const add = db.prepare(DECISION);
  for (const value of values) add.run(value);
  db.exec('commit');
  db.close();
}

export async function startCrowdsec(folder: string): Promise<{ url: string; stop(): Promise<void> }> {
  const address = `127.0.0.1:${await freePort()}`;
  const config = writeConfig(folder, address);
  const child = spawn(BINARY, ['-no-cs', '-c', config], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const url = `http://${address}`;
  const untilMs = performance.now() + START_TIMEOUT_MS;
  while (!(await isResponding(url))) {
    if (child.exitCode !== null || performance.now() > untilMs) throw new Error('crowdsec does not respond');
    await wait(100);
  }
  return {
    url,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

function writeConfig(folder: string, address: string): string {
  const at = (name: string) => join(folder, name);
  const config = {
    common: { daemonize: false, log_media: 'stdout', log_level: 'error', working_dir: folder },
    config_paths: {
      config_dir: folder,
      data_dir: folder,
      hub_dir: folder,
      notification_dir: folder,
      plugin_dir: folder,
      simulation_path: at('simulation.yaml'),
      index_path: at('index.json'),
    },
    db_config: { log_level: 'error', type: 'sqlite', db_path: at('crowdsec.db'), use_wal: true },
    api: {
      client: { credentials_path: at('credentials.yaml') },
      server: { log_level: 'error', listen_uri: address, profiles_path: at('profiles.yaml') },
    },
    prometheus: { enabled: false },
  };
  const files = {
    'config.yaml': config, // JSON is YAML
    'simulation.yaml': { simulation: false },
    'profiles.yaml': { name: 'none', filters: ['false'], decisions: [], on_success: 'break' },
    'credentials.yaml': { url: `http://${address}`, login: 'bench', password: 'bench' },
    'index.json': {},
  };
  for (const [name, value] of Object.entries(files)) writeFileSync(at(name), JSON.stringify(value));
  return at('config.yaml');
}

async function isResponding(url: string): Promise<boolean> {
  return fetch(`${url}/v1/decisions`).then(
    () => true,
    () => false,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
