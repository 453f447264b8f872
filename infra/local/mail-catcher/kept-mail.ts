import { createReadStream, existsSync, mkdirSync, renameSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { CaughtMessage } from './caught-message.ts';
import type { Mailbox } from './mailbox.ts';

type Line = Omit<CaughtMessage, 'raw'> & { raw: string };

/** Writes the messages to a file, oldest first; the former file stands until the new one is whole. */
export async function keepMail(mailbox: Mailbox, file: string): Promise<void> {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.new`;
  const handle = await open(draft, 'w', 0o600);
  try {
    for (const message of [...mailbox.newest()].reverse()) {
      await handle.write(`${JSON.stringify({ ...message, raw: message.raw.toString('base64') })}\n`);
    }
  } finally {
    await handle.close();
  }
  renameSync(draft, file);
}

/** Reads back what {@link keepMail} has written; no file, no messages. */
export async function recallMail(mailbox: Mailbox, file: string): Promise<void> {
  if (!existsSync(file)) return;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { raw, ...message } = JSON.parse(line) as Line;
    mailbox.take({ ...message, raw: Buffer.from(raw, 'base64') });
  }
}
