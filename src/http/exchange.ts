import type { FastifyReply, FastifyRequest } from 'fastify';

export type Exchange = { request: FastifyRequest; reply: FastifyReply };
