import { isPermission, PERMISSIONS, permissionDescriptors } from './index.js';

describe('the permission registry', () => {
  it('holds each permission once, as module.resource.action', () => {
    expect(new Set(PERMISSIONS).size).toBe(PERMISSIONS.length);
    for (const permission of PERMISSIONS) expect(permission).toMatch(/^[a-z]+\.[a-z_]+\.[a-z_]+$/);
  });

  it('describes every permission by its parts and in a sentence of its own', () => {
    const descriptors = permissionDescriptors();
    expect(descriptors.map(({ permission }) => permission)).toEqual([...PERMISSIONS]);
    for (const { permission, module, resource, action } of descriptors) {
      expect(`${module}.${resource}.${action}`).toBe(permission);
    }
    expect(new Set(descriptors.map(({ description }) => description)).size).toBe(descriptors.length);
  });

  it('knows a permission from a text that looks like one', () => {
    expect(isPermission('core.contacts.read')).toBe(true);
    expect(isPermission('core.contacts.reed')).toBe(false);
    expect(isPermission('toString')).toBe(false);
  });

  it('holds the key to exchange member tokens, which no route requires', () => {
    expect(isPermission('core.members.exchange')).toBe(true);
  });
});
