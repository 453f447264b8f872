import { spawnSync } from 'node:child_process';
import { SHELLS, documentedCommands } from './documented-commands.fixture.ts';

const PAGES = ['README.md', 'docs/first-user.md'];
const blocks = PAGES.flatMap((page) => documentedCommands(page).map((commands) => [page, commands] as const));

describe('the commands that people paste', () => {
  it.each(blocks)('of %s are commands of every shell that is here', (_page, commands) => {
    for (const shell of SHELLS)
      expect(spawnSync(shell, ['-n', '-c', commands], { encoding: 'utf8' }).stderr).toBe('');
  });

  it.each(blocks)('of %s give names their values as bash, zsh and fish do', (_page, commands) => {
    expect(commands).not.toMatch(/^\w+=/m);
  });

  it.each(blocks)('of %s leave no pattern of files to zsh and fish', (_page, commands) => {
    const bare = commands.replaceAll(/'[^']*'|"(?:\\.|[^"\\])*"/g, '');
    expect(bare).not.toMatch(/[?*[\]{}]/);
  });
});
