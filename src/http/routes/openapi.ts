import { Type } from 'typebox';
import { paths } from '../../contract/paths.ts';
import type { Endpoint } from '../endpoint.ts';

export const openapi: Endpoint = {
  method: 'GET',
  path: paths.openapi,
  operationId: 'openapi',
  summary: 'This document',
  response: { contentType: 'application/json', schema: Type.Object({}, { additionalProperties: true }) },
  refusals: [],
  read: () => undefined,
  answer: async (_question, context) => context.openapi,
};
