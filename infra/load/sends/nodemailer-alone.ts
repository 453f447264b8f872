/**
 * A process of its own that hands mails to an SMTP server with nothing but nodemailer: what is possible on this machine.
 * Arguments: port, count, connections. Prints mails a second.
 */
import { createTransport } from 'nodemailer';

const [port = 0, count = 0, connections = 0] = process.argv.slice(2).map(Number);
const transport = createTransport({
  pool: true,
  host: '127.0.0.1',
  port,
  secure: false,
  ignoreTLS: true,
  maxConnections: connections,
  maxMessages: 500,
});
const one = async (n: number): Promise<void> => {
  await transport.sendMail({
    from: 'Trial <trial@example.com>',
    to: `alone-${n}@example.com`,
    subject: `Your order A-${n}`,
    html: `<h1>Thank you, Ana</h1><p>Your order <b>A-${n}</b> is on its way.</p>`,
    text: `THANK YOU, ANA\n\nYour order A-${n} is on its way.`,
  });
};
const began = performance.now();
let next = 0;
const work = async (): Promise<void> => {
  while (next < count) await one(next++);
};
await Promise.all(Array.from({ length: connections * 3 }, work));
process.stdout.write(String(count / ((performance.now() - began) / 1_000)));
transport.close();
