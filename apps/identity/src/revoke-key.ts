import { OperatorRefusal } from './operator/operator.js';
import { runCommand } from './operator/run-command.js';

const HELP = `
Ends an API key. It is refused everywhere within a second. Prints one line of JSON: {"id", "revoked"}; "revoked" is
false if the key had ended before.

  node apps/identity/dist/revoke-key.js KEY_ID
  node apps/identity/dist/revoke-key.js -        reads the key itself from standard input, one line

A key is never taken as an argument, where other users of the machine could read it.
DATABASE_URL names identity's database (role identity_app).
`;

await runCommand({
  help: HELP,
  options: {},
  takesWord: true,
  run: async (operator, _values, word) => {
    if (word === undefined) throw new OperatorRefusal('Give the id of a key; see --help.', 2);
    return JSON.stringify(await operator.revokeKey(word === '-' ? await readLine() : word));
  },
});

async function readLine(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin) text += String(chunk);
  return text.trim();
}
