import { createHmac } from 'node:crypto';
import type { CaughtMessage } from './caught-message.ts';

/** Where a provider's reports go: messaging's webhook for the `generic` signature. */
interface ReportTarget {
  url: string;
  secret: string;
}

/** Reports a mail as spam, as the provider of a person who pressed that button would. @throws Error if refused */
export async function reportComplaint(
  target: ReportTarget,
  message: CaughtMessage,
  at = new Date(),
): Promise<void> {
  const body = JSON.stringify({
    provider_message_id: message.message_id ?? message.id,
    event: 'complained',
    occurred_at: at.toISOString(),
    provider_event_id: `complaint-${message.id}`,
  });
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signature = createHmac('sha256', target.secret).update(`${timestamp}.${body}`).digest('hex');
  const answer = await fetch(target.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-timestamp': timestamp,
      'x-signature': `sha256=${signature}`,
    },
    body,
    signal: AbortSignal.timeout(10_000),
  });
  if (!answer.ok) throw new Error(`The complaint was answered ${answer.status}: ${await answer.text()}`);
}
