import { sightingsSuite } from './contract/sightings.ts';
import { openSqliteTables } from './tables.ts';

sightingsSuite(openSqliteTables);
