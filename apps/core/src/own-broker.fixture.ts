/** The broker of one's own that the event bus is tested with; a test of another package, so loaded at run time. */
export interface OwnBroker {
  readonly address: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Stops it from answering while its sockets stay open. */
  freeze(): void;
  thaw(): void;
  remove(): Promise<void>;
}

/** One that is not started yet. */
export async function ownBroker(): Promise<OwnBroker> {
  const file = new URL('../../../libs/event-bus/test/own-broker.ts', import.meta.url);
  const module = (await import(file.href)) as { OwnBroker: { prepare(): Promise<OwnBroker> } };
  return module.OwnBroker.prepare();
}
