type Part = { close(): unknown };

/** What is open. It is closed in reverse order, because parts use those that were opened before them. */
export type OpenParts = {
  /** Returns the part. */
  add<Added extends Part>(part: Added): Added;
  close(): Promise<void>;
};

export function createOpenParts(): OpenParts {
  const parts: Part[] = [];
  return {
    add(part) {
      parts.unshift(part);
      return part;
    },
    async close() {
      for (const part of parts.splice(0)) await part.close();
    },
  };
}
