import { existsSync } from 'node:fs';
import { type Control, type DataPlace, type Intelligence, openControl, openIntelligence } from '../app/stores.ts';
import { variableOf } from '../config/read-settings.ts';
import { SETTINGS } from '../config/settings.ts';
import { AppError } from '../core/errors.ts';
import { requireData } from '../database/data-folder.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, type Input, JSON_FLAG, type NoFlags, type Shape } from './define-command.ts';
import { print, visible } from './output.ts';
import { CONFIG_FLAG, readCommandSettings, settingArgs } from './settings.ts';
import type { Flags } from './usage.ts';

const { dataDir, databaseUrl, databaseReadUrls, databaseConnections } = SETTINGS;
const PLACE = { dataDir, databaseUrl, databaseReadUrls, databaseConnections };

const PLACE_FLAGS = {
  data: {
    argument: 'DIR',
    meaning: `folder of the database (default ${dataDir.fallback}; variable ${variableOf(dataDir.flag)})`,
  },
  'database-url': {
    argument: 'URL',
    meaning: `use PostgreSQL instead of a folder. Prefer the variable ${variableOf(databaseUrl.flag)}: other users of this machine can read flags`,
  },
  ...CONFIG_FLAG,
} as const satisfies Flags;

export type DataInput<F extends Flags = NoFlags> = Input<F> & { place: DataPlace };

/** The same result twice: text for people, and one JSON value for programs, whose keys are stable. */
type Result = { text: string; json: object };

/** A command on the data, in a folder or in PostgreSQL. */
export function dataCommand<const F extends Flags = NoFlags>(
  shape: Shape<F>,
  run: (input: DataInput<F>) => Promise<number>,
): Command {
  const flags = { ...shape.flags, ...PLACE_FLAGS } as F & typeof PLACE_FLAGS;
  return defineCommand({ ...shape, flags }, (input) => run({ ...(input as Input<F>), place: readPlace(input.flags) }));
}

/** Makes commands on a store, which is open while they run. Each prints one result, and also works while a server is running. */
const commandOn =
  <S extends { close(): Promise<void> }>(open: (place: DataPlace) => Promise<S>) =>
  <const F extends Flags = NoFlags>(
    shape: Shape<F>,
    run: (store: S, input: DataInput<F>) => Promise<Result>,
  ): Command => {
    const flags = { ...shape.flags, json: JSON_FLAG } as F & { json: typeof JSON_FLAG };
    return dataCommand({ ...shape, flags }, async (input) => {
      const store = await open(input.place);
      try {
        const result = await run(store, input as DataInput<F>);
        await printResult(result, (input.flags as { json: true | undefined }).json);
        return 0;
      } finally {
        await store.close();
      }
    });
  };

// Commands that read a database, or change what is in it. A folder without data is refused as a mistake.
export const controlCommand = commandOn(openExistingControl);
export const intelligenceCommand = commandOn(openExisting);

// Commands that add to a database, and create it if there is none.
export const controlAddingCommand = commandOn((place) => openNew(place, openControl));
export const addingCommand = commandOn((place) => openNew(place, openIntelligence));

export async function openExisting(place: DataPlace): Promise<Intelligence> {
  if (!place.databaseUrl) requireImported(place.dataDir);
  return openIntelligence(place);
}

function requireImported(dataDir: string): void {
  try {
    requireData(dataDir);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
    const advice = 'or import a file first: urlwarden import FORMAT FILE';
    throw new AppError(error.code, `${error.message}, ${advice}`, { cause: error });
  }
}

/** Says so if it creates a data folder: its name may be misspelt. */
export async function openNew<S>(place: DataPlace, open: (place: DataPlace) => Promise<S>): Promise<S> {
  const isNew = !place.databaseUrl && !existsSync(place.dataDir);
  const store = await open(place);
  if (isNew) process.stderr.write(`Created the data folder ${visible(place.dataDir)}\n`);
  return store;
}

export function openExistingControl(place: DataPlace): Promise<Control> {
  if (!place.databaseUrl) requireData(place.dataDir);
  return openControl(place);
}

/** The second of two stores. If it cannot be opened, the first is closed. */
export function openBeside<S>(first: { close(): Promise<void> }, second: Promise<S>): Promise<S> {
  return second.catch(async (error) => {
    await first.close();
    throw error;
  });
}

export async function printResult({ text, json }: Result, isJson: true | undefined): Promise<void> {
  await print(isJson ? `${JSON.stringify(json)}\n` : text);
}

/** For commands that work on a folder only; PostgreSQL has its own tools for them. */
export function requireFolder({ dataDir, databaseUrl }: DataPlace): string {
  if (!databaseUrl) return dataDir;
  throw new UsageError(
    'This command works on a data folder; give one with --data. For PostgreSQL use its own tools: see docs/scaling.md',
  );
}

/** A folder on the command line has precedence over a database in the environment or in the settings file. */
function readPlace(flags: { data?: string | undefined; 'database-url'?: string | undefined }): DataPlace {
  const values = readCommandSettings(PLACE, settingArgs(PLACE, flags));
  const isFolderGiven = flags.data !== undefined && flags['database-url'] === undefined;
  return isFolderGiven ? { dataDir: values.dataDir } : values;
}
