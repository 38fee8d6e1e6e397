import { Type } from 'typebox';
import { MAX_INTEGER, Timestamp, UrlId } from '../contract/scalars.ts';
import type { Parameter } from './endpoint.ts';

/** The parameters as the OpenAPI document shows them; `query.ts` is what reads them. */

export const urlIdParameter: Parameter = { in: 'path', name: 'id', schema: UrlId, description: 'The URLID.' };

export const sinceParameter: Parameter = {
  in: 'query',
  name: 'since',
  schema: Timestamp,
  description: 'Records with ts greater than or equal to this. Default: 12 months before now.',
};

export const untilParameter: Parameter = {
  in: 'query',
  name: 'until',
  schema: Timestamp,
  description: 'Records with ts less than or equal to this. Default: now.',
};

export const verboseParameter: Parameter = {
  in: 'query',
  name: 'verbose',
  schema: Type.Enum(['', '1', 'true', '0', 'false']),
  description: 'Tell of each part how it is.',
};

const Limit = { minimum: 1, maximum: MAX_INTEGER };

export const limitParameter = (defaultLimit?: number): Parameter => ({
  in: 'query',
  name: 'limit',
  schema: Type.Integer(defaultLimit === undefined ? Limit : { ...Limit, default: defaultLimit }),
  description: 'At most so many records.',
});
