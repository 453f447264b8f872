/**
 * The mail catcher of local mode: takes what the platform sends by SMTP (and, for other channels, by HTTP), delivers
 * nothing, and shows it as a page and as JSON.
 *
 * Environment: `SMTP_PORT`, `HTTP_PORT`, optionally `MAIL_FILE` (kept between starts) and `REPORT_URL` with
 * `REPORT_SECRET` (where complaints are reported).
 */
import { log } from 'node:console';
import { reportComplaint } from './complaint.ts';
import { keepMail, recallMail } from './kept-mail.ts';
import { serveMailbox } from './mail-http.ts';
import { Mailbox } from './mailbox.ts';
import { listenForMail } from './smtp-listener.ts';

const { SMTP_PORT = '1025', HTTP_PORT = '8025', MAIL_FILE, REPORT_URL, REPORT_SECRET } = process.env;
const mailbox = new Mailbox();
if (MAIL_FILE !== undefined) {
  await recallMail(mailbox, MAIL_FILE).catch((error: Error) =>
    log(`Kept mail cannot be read: ${error.message}`),
  );
}
const smtp = await listenForMail({
  mailbox,
  port: Number(SMTP_PORT),
  onComplaint: (message) => {
    if (REPORT_URL === undefined || REPORT_SECRET === undefined) return;
    reportComplaint({ url: REPORT_URL, secret: REPORT_SECRET }, message).catch((error: Error) =>
      log(error.message),
    );
  },
});
const http = await serveMailbox(mailbox, Number(HTTP_PORT));
log(`Mail is caught on port ${SMTP_PORT} and shown on http://127.0.0.1:${HTTP_PORT}`);

let ending = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void end());

async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  http.closeAllConnections();
  http.close();
  await new Promise<void>((resolve) => smtp.close(() => resolve()));
  if (MAIL_FILE !== undefined) await keepMail(mailbox, MAIL_FILE);
  process.exit(0);
}
