/** Questions of one statement, so that no answer waits long for the others. */
const MAX_TOGETHER = 100;

type Waiting<Question, Answer> = {
  question: Question;
  resolve(answer: Answer | Promise<Answer>): void;
  reject(error: unknown): void;
};

/**
 * Reads what is asked for in one iteration of the event loop together: questions of one group, up to 100 at a time. `read`
 * returns the answers in the order of its questions.
 */
export function createReadTogether<Question, Answer>(
  read: (questions: readonly Question[]) => Promise<(Answer | Promise<Answer>)[]>,
  groupOf: (question: Question) => string = () => '',
): (question: Question) => Promise<Answer> {
  let waiting: Waiting<Question, Answer>[] = [];

  function readWaiting(): void {
    const groups = Map.groupBy(waiting, ({ question }) => groupOf(question));
    waiting = [];
    for (const group of groups.values()) {
      for (let at = 0; at < group.length; at += MAX_TOGETHER) void readBatch(group.slice(at, at + MAX_TOGETHER));
    }
  }

  async function readBatch(batch: readonly Waiting<Question, Answer>[]): Promise<void> {
    try {
      const answers = await read(batch.map(({ question }) => question));
      for (const [i, { resolve }] of batch.entries()) resolve(answers[i] as Answer);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (question) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(readWaiting);
      waiting.push({ question, resolve, reject });
    });
}
