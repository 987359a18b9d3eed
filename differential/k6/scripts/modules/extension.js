// An import of an extension of k6 (xk6)
import faker from 'k6/x/faker';
export default function () { faker.name(); }
