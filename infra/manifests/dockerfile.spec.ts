import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DockerfileParser, type From } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'infra/docker/Dockerfile'), 'utf8');
const dockerfile = DockerfileParser.parse(text);

/** The stages in their order: what each is made from, and its instructions, continued lines joined. */
const stages = dockerfile.getFROMs().map((from: From, index, all) => {
  const first = from.getRange().start.line;
  const next = all[index + 1]?.getRange().start.line ?? Infinity;
  const instructions = dockerfile
    .getInstructions()
    .filter(
      (instruction) => instruction.getRange().start.line >= first && instruction.getRange().start.line < next,
    )
    .map((instruction) => ({
      keyword: instruction.getKeyword(),
      text: (instruction.getRawArgumentsContent() ?? '').replaceAll(/\\\n\s*/g, ''),
    }));
  return { name: from.getBuildStage() ?? '', from: from.getImage() ?? '', instructions };
});
const runs = (pattern: RegExp) =>
  stages.flatMap(({ name, instructions }) =>
    instructions.filter(({ keyword, text: line }) => keyword === 'RUN' && pattern.test(line)).map(() => name),
  );

describe('infra/docker/Dockerfile', () => {
  it('is a Dockerfile without a complaint', () => {
    expect(validate(text)).toEqual([]);
  });

  it('installs once and builds once, before anything knows which app it is for', () => {
    expect(runs(/npm (ci|install)\b/)).toEqual(['installed']);
    expect(runs(/\bnx\b/)).toEqual(['build']);
    const knowing = stages.filter(({ instructions }) =>
      instructions.some(({ text: line }) => /\bAPP\b/.test(line)),
    );
    expect(knowing.map(({ name }) => name)).toEqual(['runtime']);
    const last = knowing[0]?.instructions ?? [];
    const since = last.slice(last.findIndex(({ keyword }) => keyword === 'ARG'));
    expect(since.map(({ keyword }) => keyword)).not.toContain('RUN');
  });

  it('runs as nobody in particular, with the ports that manifests name', () => {
    const runtime = stages.at(-1)?.instructions ?? [];
    expect(runtime).toContainEqual({ keyword: 'USER', text: 'node' });
    expect(runtime).toContainEqual({ keyword: 'EXPOSE', text: '3000 3001' });
    const shared = readFileSync(join(root, 'k8s/components/app/app.env'), 'utf8');
    for (const variable of ['PORT=3000', 'INTERNAL_PORT=3001'])
      expect([text, shared].every((file) => new RegExp(`\\b${variable}\\b`).test(file))).toBe(true);
  });

  it('copies from stages that are there', () => {
    for (const { instructions } of stages)
      for (const { text: line } of instructions) {
        const [, stage] = /--from=(\S+)/.exec(line) ?? [];
        if (stage) expect(stages.map(({ name }) => name)).toContain(stage);
      }
  });
});
