// ./processor.ts
import { readFileSync } from 'fs';
import axios from 'axios';
import { DoneCallback } from 'passport';
// import { io } from 'socket.io-client';
import { randomInt } from 'crypto';
// import { promises as fs } from 'fs';
interface User {
id: number;
email: string;
password: string;
}
interface Friend {
id: number;
email: string;
username: string;
}
let users: User[];
let userIndex = 0;
const API_URL = // "DOMAIN"
// Add retry configuration
const RETRY_DELAY = 1000; // 1 second
const MAX_RETRIES = 3;
async function delay(ms: number): Promise<void> {
return new Promise((resolve) => setTimeout(resolve, ms));
}
async function retryOperation<T>(
operation: () => Promise<T>,
retries = MAX_RETRIES,
delayMs = RETRY_DELAY,
): Promise<T> {
try {
return await operation();
} catch (error) {
if (retries > 0 && error.response?.status === 429) {
await delay(delayMs);
return retryOperation(operation, retries - 1, delayMs * 2);
}
throw error;
}
}
async function login(email: string, password: string): Promise<string> {
return retryOperation(async () => {
try {
const response = await axios.post(`${API_URL}/auth/login`, {
email,
password,
});
return response.data.access_token;
} catch (error) {
console.error(`Login failed for ${email}:`, error.message);
console.log(`Login failed for ${email}:`, error.message);
throw error;
}
});
}
async function getFriends(token: string): Promise<Friend[]> {
try {
const response = await axios.get(`${API_URL}/users/friends`, {
headers: {
Authorization: `Bearer ${token}`,
},
});
return response.data.friends;
} catch (error) {
console.error('Error fetching friends:', error.message);
console.log('Error fetching friends:', error.message);
throw error;
}
}
async function getUserSecure(email: string): Promise<Partial<User>> {
try {
const response = await axios.get(`${API_URL}/users/getUserSecure/${email}`);
return response.data;
} catch (error) {
console.error(`Error fetching user ${email}:`, error.message);
console.log(`Error fetching user ${email}:`, error.message);
throw error;
}
}
async function getRoom(token: string, friendId: number): Promise<string> {
try {
const response = await axios.post(
`${API_URL}/rooms/find-or-create`,
{ friendId },
{
headers: {
Authorization: `Bearer ${token}`,
},
},
);
return response.data.roomId;
} catch (error) {
console.error('Error creating/finding room:', error.message);
console.log('Error creating/finding room:', error.message);
throw error;
}
}
// Add error tracking
const errorTracker = {
errors: new Map<string, number>(),
addError(type: string) {
const count = this.errors.get(type) || 0;
this.errors.set(type, count + 1);
if (count > 50) {
console.error(`High error rate for ${type}: ${count}`);
}
}
};
// Modify loadUserData function
export function loadUserData(
userContext: any,
events: any,
done: DoneCallback,
): void {
(async () => {
try {
// Add session tracking
if (!userContext.vars) {
userContext.vars = {};
}
userContext.vars.sessionStartTime = Date.now();
// Load data only once and cache it
if (!users) {
try {
const userData = readFileSync('./data/chat-users.json', 'utf-8');
users = JSON.parse(userData);
} catch (error) {
console.error('Error loading users:', error);
return done(new Error('Failed to load users data'));
}
}
// Validate users array
if (!users || !Array.isArray(users) || users.length === 0) {
console.error('No valid users found');
return done(new Error('No valid users available'));
}
// Cycle through users in the data file
const user = users[userIndex % users.length];
userIndex++;
try {
const token = await login(user.email, user.password);
const userInfo = await getUserSecure(user.email);
const friends = await getFriends(token);
if (!friends || friends.length === 0) {
console.error(`No friends found for user ${user.email}`);
return done(new Error('No friends available'));
}
const randomFriend = friends[Math.floor(Math.random() * friends.length)];
const roomId = await getRoom(token, randomFriend.id);
const currentUser = {
email: user.email,
id: userInfo.id,
friend: {
id: randomFriend.id,
email: randomFriend.email
}
};
// Set context variables
userContext.vars = {
userId: userInfo.id,
token: token,
roomId: roomId,
email: user.email,
friends: friends,
friendId: randomFriend.id,
// Export the current user data
currentUser: {
email: user.email,
id: userInfo.id,
friend: {
id: randomFriend.id,
email: randomFriend.email
}
},
content: randomInt(10),
};
// Validation
if (!userContext.vars.token) {
return done(new Error('Authentication failed'));
}
if (!userContext.vars.roomId) {
return done(new Error('Room creation failed'));
}
events.currentUser = currentUser;
// Pass the user data through done callback
return done(null, userContext.vars.currentUser);
} catch (error) {
console.error(`Error processing user ${user.email}:`, error);
errorTracker.addError(error.message);
return done(error);
}
} catch (error) {
console.error('Unexpected error:', error);
errorTracker.addError(error.message);
return done(error);
}
})();
}
