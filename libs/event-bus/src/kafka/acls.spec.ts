import { Controller, Module } from '@nestjs/common';
import { OnEvent } from '../on-event.decorator.js';
import { aclsOf } from './acls.js';
import { accessOf } from './module-access.js';

@Controller()
class Erasures {
  @OnEvent(['core.erasure.requested.v1', 'core.contact.erased.v1'])
  erase(): Promise<void> {
    return Promise.resolve();
  }
}

@Controller()
class Founding {
  @OnEvent('identity.organization.created.v1')
  found(): Promise<void> {
    return Promise.resolve();
  }
}

@Module({ controllers: [Founding] })
class Below {}

class Dynamic {}

/** Each controller once is reached in another way; the circle ends. */
@Module({ imports: [Below, { module: Dynamic, imports: [Below], controllers: [Erasures] }] })
class Root {}

@Module({})
class Silent {}

const told = (...given: Parameters<typeof aclsOf>): string[] =>
  aclsOf(...given).map(
    ({ type, name = '', isPrefix, operations }) =>
      `${type} ${name}${isPrefix ? '*' : ''}: ${[...operations].sort().join(' ')}`,
  );

describe('what a module is allowed', () => {
  it('is to make, set and write its own topic, and to read those whose events its controllers take', () => {
    expect(told(accessOf('crm', Root), 'p-')).toEqual([
      'topic p-crm.domain-events: AlterConfigs Create Describe DescribeConfigs Write',
      'topic p-audit.entries: Describe Write',
      'topic p-core.domain-events: Describe Read',
      'topic p-identity.domain-events: Describe Read',
      'topic p-crm.installation.*: Create Delete Describe',
      'group p-crm.domain-events: Describe Read',
      'cluster : DescribeConfigs',
    ]);
  });

  it('is of core what its queue and the audit log need, too', () => {
    expect(told(accessOf('core', Silent), '')).toEqual([
      'topic core.domain-events: AlterConfigs Create Describe DescribeConfigs Write',
      'topic core.ingestion: AlterConfigs Create Describe DescribeConfigs Read Write',
      'topic audit.entries: AlterConfigs Create Describe DescribeConfigs Read Write',
      'topic audit.checkpoints: AlterConfigs Create Describe DescribeConfigs Read Write',
      'topic core.installation.*: Create Delete Describe',
      'group core.ingestion: Describe Read',
      'group core.ingestion.acceptances: Describe Read',
      'group core.audit-log: Describe Read',
      'group core.reader-*: Delete Describe Read',
      'cluster : DescribeConfigs',
    ]);
  });

  it('is no group where nothing is heard', () => {
    expect(told(accessOf('identity', Silent), '').filter((acl) => acl.startsWith('group'))).toEqual([]);
  });
});
