import { Gauge, type Registry } from 'prom-client';

/** A pool of database connections: its limit, its open connections, and how many callers wait for one. */
export type PoolLoad = { pool: string; connections: number; inUse: number; idle: number; waiting: number };

export function registerPoolGauges(registry: Registry, loads: () => PoolLoad[]): void {
  const register = (name: string, help: string, labelNames: string[], set: (gauge: Gauge, load: PoolLoad) => void) => {
    new Gauge({
      name: `urlwarden_database_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        for (const load of loads()) set(this, load);
      },
    });
  };
  register('connections_max', 'Connections to PostgreSQL that the pool may open', ['pool'], (gauge, load) =>
    gauge.set({ pool: load.pool }, load.connections),
  );
  register('connections', 'Open connections to PostgreSQL', ['pool', 'state'], (gauge, { pool, inUse, idle }) => {
    gauge.set({ pool, state: 'in_use' }, inUse);
    gauge.set({ pool, state: 'idle' }, idle);
  });
  register('waiting', 'Statements and transactions that wait for a connection', ['pool'], (gauge, load) =>
    gauge.set({ pool: load.pool }, load.waiting),
  );
}

export type ReplicaState = { pool: string; isUp: boolean };

export function registerReplicaGauge(registry: Registry, states: () => ReplicaState[]): void {
  new Gauge({
    name: 'urlwarden_replica_up',
    help: '1 while the replica answers, 0 while it does not',
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      for (const { pool, isUp } of states()) this.set({ pool }, Number(isUp));
    },
  });
}

/** The sizes of an embedded database and of its write-ahead log. */
export type FileSizes = { database: string; fileBytes: number; walBytes: number };

export function registerFileGauges(registry: Registry, sizes: () => FileSizes[]): void {
  const register = (name: string, help: string, value: (sizes: FileSizes) => number) => {
    new Gauge({
      name: `urlwarden_database_${name}_bytes`,
      help,
      labelNames: ['database'],
      registers: [registry],
      collect() {
        for (const one of sizes()) this.set({ database: one.database }, value(one));
      },
    });
  };
  register('file', 'Size of the database file', ({ fileBytes }) => fileBytes);
  register('wal', 'Size of the write-ahead log of the database file', ({ walBytes }) => walBytes);
}
