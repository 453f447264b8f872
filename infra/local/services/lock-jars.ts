/**
 * `node --use-system-ca --use-env-proxy infra/local/services/lock-jars.ts infra/local/kafka`, after a change of the
 * folder's pom.xml: writes its jars.lock. Only this needs Maven, which knows what a dependency depends on.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchJar, jarRepository, type Jar } from './fetch-jars.ts';

const [folder = ''] = process.argv.slice(2);
const lines = [];
for (const jar of resolved(join(folder, 'pom.xml'))) {
  const bytes = await fetchJar(jar, jarRepository(process.env));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  lines.push(`${jar.groupId}:${jar.artifactId}:${jar.version} ${sha256}\n`);
}
const head = '# Written by infra/local/services/lock-jars.ts from pom.xml.\n';
writeFileSync(join(folder, 'jars.lock'), head + lines.sort().join(''));

function resolved(pom: string): Jar[] {
  const scratch = mkdtempSync(join(tmpdir(), 'lock-jars-'));
  try {
    const list = join(scratch, 'list');
    const goal = ['dependency:list', `-DoutputFile=${list}`, '-DincludeScope=runtime'];
    execFileSync('mvn', ['-q', '-B', '-f', pom, ...goal], { stdio: 'inherit' });
    const jars = readFileSync(list, 'utf8').matchAll(/^ +([^:\s]+):([^:\s]+):jar:([^:\s]+):/gm);
    return [...jars].map(([, groupId = '', artifactId = '', version = '']) => ({
      groupId,
      artifactId,
      version,
    }));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
