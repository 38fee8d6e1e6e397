import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { AnswerOptions, Endpoint, Exchange, Parameter, Route } from '../http/endpoint.ts';

type Described<Question> = Omit<Endpoint<Question>, 'refusals' | 'answer'> & {
  refusals?: Endpoint['refusals'];
  answer(question: Question, exchange: Exchange, options: AnswerOptions): Promise<unknown>;
};

/** A route for administrators. No cache may keep its answers. */
export function adminRoute<Question>({ refusals = [], answer, ...described }: Described<Question>): Route {
  const endpoint: Endpoint<Question> = {
    ...described,
    refusals,
    answer(question, exchange, options) {
      exchange.reply.header('cache-control', 'no-store');
      return answer(question, exchange, options);
    },
  };
  return { endpoint: endpoint as Endpoint, access: 'administrator', charge: 'call' };
}

/** The value of a parameter in the path. */
export const pathValue = (request: FastifyRequest, name: string): string =>
  (request.params as Record<string, string>)[name] ?? '';

export const nameParameter = (description: string): Parameter => ({
  in: 'path',
  name: 'name',
  schema: Type.String(),
  description,
});

export const EmptyBody = Type.Object({}, { additionalProperties: false });
